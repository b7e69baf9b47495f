import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { justonce } from '../../src/index.ts'
import { countParked } from '../../src/operations/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { storeCases } from '../../src/testing/index.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { bindStoreCases } from '../conformance/bind-store-cases.ts'
import { atAddress } from '../servers/address.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { openJsContext } from './js-context.ts'
import { poolsOf } from './opened-clients.ts'
import { newPool, newSchema, openPgContext } from './pg-context.ts'

const postgres = await requireServer('postgres')
const pgbouncer = await requireServer('pgbouncer')

/** What depends on the connection that a statement runs on. */
const cases = storeCases.filter(({ name }) => /^(?:claim|locks|transaction|misuse|abort|parts|loan|within)/.test(name))

/** Prepared statements came in 1.21 and are on since 1.24; earlier ones hand them out to the wrong connections. */
const [major = 0, minor = 0] = pgbouncer.available ? pgbouncer.version.split('.').map(Number) : []
const isOld = major === 1 && minor < 21
const isNew = major > 1 || minor >= 24

describe.skipIf(!postgres.available || !pgbouncer.available)('behind PgBouncer in transaction mode', () => {
  let url: string
  beforeAll(async () => {
    const { hostname, port } = new URL(pgbouncer.url)
    url = atAddress(await createDatabase(postgres.url), hostname, Number(port))
  })

  bindStoreCases('postgres with pg behind PgBouncer', {
    cases,
    open: () => openPgContext({ url, prepare: isNew, listen: false }),
  })
  bindStoreCases('postgres with postgres.js behind PgBouncer', {
    cases,
    open: () => openJsContext({ url, prepare: isNew, listen: false, client: { prepare: isNew } }),
  })

  test.runIf(isOld)('an old one and prepared statements: what it mixes up is sent again without them', async () => {
    const pools = [newPool({ url }), newPool({ url })] as const
    onTestFinished(async () => void (await Promise.all(pools.map((pool) => pool.end()))))
    const schema = newSchema()
    const [store, rival] = [0, 1].map((each) => postgresStore({ pool: pools[each]!, schema, listen: false }))
    const claim = (by = store!) =>
      by.transaction((tx) => by.inbox.claim(tx, [{ handler: 'h', key: 'm', fingerprint: undefined }]))
    await store!.schema.install()
    await claim()
    // PgBouncer gives out the connection that came back last, and there the names of the statements are taken.
    expect((await claim(rival)).existing).toMatchObject([{ state: 'processed' }])
    expect((await claim()).existing).toMatchObject([{ state: 'processed' }])
  })

  test.each(poolsOf)(
    '$client with prepared statements, and handlers that fail once: each message takes effect once',
    async ({ client, open }) => {
      const schema = newSchema()
      const shared = [0, 1].map(() => open({ url, schema, max: 4 }))
      const admin = newPool({ url })
      onTestFinished(async () => void (await Promise.all([...shared.map((each) => each.close()), admin.end()])))
      await shared[0]!.store.schema.install()
      await admin.query(`CREATE TABLE ${schema}.effects (name text NOT NULL)`)
      const ids = Array.from({ length: 60 }, (_, index) => `${client} ${index + 10}`)
      const failed = new Set<string>()
      const apps = shared.map(({ store, run }, which) => {
        const transport = memoryTransport()
        const app = justonce({ store, transport, concurrency: 2, batch: { max: 5, budgetMs: 60_000 }, pollMs: 20 })
        app.on('note.created', { name: 'tag-note', retry: { backoff: () => 20 } }, async ({ id }, { tx }) => {
          await run(tx, `INSERT INTO ${schema}.effects VALUES ('${id}')`)
          if (Number(id.slice(-1)) % 3 !== 0 || failed.has(id)) return
          failed.add(id)
          throw new Error('the first time')
        })
        transport.send(
          ids.filter((_, index) => index % 2 === which).map((id) => ({ id, type: 'note.created', body: {} })),
        )
        return app
      })
      const effects = async () => (await admin.query(`SELECT name FROM ${schema}.effects ORDER BY name`)).rows
      for (const app of apps) await app.start()
      const until = performance.now() + 20_000
      while ((await effects()).length < ids.length && performance.now() < until) await pause(50)
      for (const app of apps) await app.stop()
      expect(await effects()).toEqual(ids.map((name) => ({ name })))
      expect(await countParked(shared[0]!.store)).toBe(0)
    },
  )
})
