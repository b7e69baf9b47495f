import pg from 'pg'
import postgresJs from 'postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Store } from '../../src/contracts/index.ts'
import { hotSide as hintsOf } from '../../src/hints/index.ts'
import { justonce } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { localhost } from '../servers/address.ts'
import { type PostgresServer, startPostgres } from '../servers/postgres.ts'
import { withClient } from '../servers/postgres-databases.ts'
import { type PostgresStandby, startStandby } from '../servers/postgres-standby.ts'
import { startProxy } from '../servers/proxy.ts'
import { requireBinaries } from '../servers/require.ts'
import { hotSide } from './hot-side.ts'
import './long-tests.ts'

const binaries = await requireBinaries('postgres')
const ids = ['m1', 'm2', 'm3', 'm4']

interface OpenedClient {
  readonly store: Store
  close(): Promise<unknown>
}

const clients = [
  {
    name: 'pg',
    open(url: string): OpenedClient {
      const pool = new pg.Pool({ connectionString: url, max: 4 }).on('error', () => {})
      return { store: postgresStore({ pool }) as unknown as Store, close: () => pool.end() }
    },
    insert: (tx: unknown, id: string) => (tx as pg.PoolClient).query('INSERT INTO effects VALUES ($1)', [id]),
  },
  {
    name: 'postgres.js',
    open(url: string): OpenedClient {
      const sql = postgresJs(url, { max: 4, onnotice: () => {} })
      return { store: postgresStore({ sql }) as unknown as Store, close: () => sql.end({ timeout: 1 }) }
    },
    insert: (tx: unknown, id: string) => (tx as postgresJs.ReservedSql)`INSERT INTO effects VALUES (${id})`,
  },
]

describe.skipIf(!binaries.available).each(clients)(
  'a standby that lacks the last commits takes over from Postgres, under $name',
  ({ open, insert }) => {
    let primary: PostgresServer
    let standby: PostgresStandby
    beforeAll(async () => {
      primary = await startPostgres()
      await withClient(primary.url, (client) => client.query('CREATE TABLE effects (id text NOT NULL)'))
      standby = await startStandby(primary)
    })
    afterAll(async () => {
      await standby?.stop()
      await primary?.stop()
    })

    const effectsOn = (server: { readonly url: string }): Promise<string[]> =>
      withClient(server.url, async (client) => {
        const { rows } = await client.query<{ id: string }>('SELECT id FROM effects ORDER BY id')
        return rows.map(({ id }) => id)
      })

    test('what it lacks takes effect again, and nothing else', async () => {
      const before = await startProxy(localhost, primary.port)
      const { store, close } = open(before.url(primary.url))
      const transport = memoryTransport()
      const app = justonce({ store, hints: hintsOf({ client: hotSide() }), transport, concurrency: 1 })
      app.on('note.created', 'tag-note', async (message, { tx }) => void (await insert(tx, message.id)))
      onTestFinished(async () => {
        await app.stop()
        await close()
        await before.stop()
      })
      const handle = async (some: readonly string[]): Promise<void> => {
        // One by one: each asks the process's own memory and the hot side before it asks the database.
        for (const id of some) {
          transport.send([{ id, type: 'note.created', body: {} }])
          await transport.idle()
        }
      }

      await app.start()
      await handle(['m1'])
      await expect.poll(() => effectsOn(standby), { timeout: 30_000 }).toEqual(['m1'])
      await standby.cutOff()
      await handle([...ids, ...ids])
      expect(await effectsOn(primary)).toEqual(ids)
      expect(await effectsOn(standby)).toEqual(['m1'])

      await before.refuse()
      await primary.kill9()
      before.cutAll()
      await standby.promote()
      const after = await startProxy(localhost, standby.port, before.port)
      onTestFinished(() => after.stop())
      // A new message, so that the app has heard from the server that it now talks to.
      await handle(['new', ...ids, ...ids])
      expect(await effectsOn(standby)).toEqual([...ids, 'new'])
    })
  },
)
