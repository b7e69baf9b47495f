import type { Pool, PoolConnection, RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type JustonceEvent, justonce } from '../../src/index.ts'
import { type MysqlStore, mysqlStore } from '../../src/stores/mysql/index.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { createMysqlDatabase } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireServer('mariadb')

type Handle = (context: { publish(type: string, body: unknown): Promise<unknown> }) => Promise<unknown>

describe.skipIf(!mariadb.available)('a user that may not do everything', () => {
  let url: string
  let name: string
  let admin: Pool
  let owner: MysqlStore<PoolConnection>

  beforeAll(async () => {
    url = await createMysqlDatabase(mariadb.url)
    name = new URL(url).pathname.slice(1)
    admin = newPool({ url })
    owner = mysqlStore({ pool: admin })
    await owner.schema.install()
  })
  afterAll(() => admin?.end())

  /** A user with every right on rows of our tables, but none to insert into the given one. */
  const without = async (table: string) => {
    const user = `u${name.slice(-20)}_${table}`
    await admin.query(`CREATE USER ${user} IDENTIFIED BY 'modest'`)
    const [tables] = await admin.query<RowDataPacket[]>('SHOW TABLES')
    for (const each of tables.flatMap((row) => Object.values(row) as string[])) {
      const insert = each === `justonce_${table}` ? '' : 'INSERT, '
      await admin.query(`GRANT ${insert}SELECT, UPDATE, DELETE ON ${each} TO ${user}`)
    }
    const address = new URL(url)
    address.username = user
    address.password = 'modest'
    const pool = newPool({ url: address.href })
    onTestFinished(async () => {
      await pool.end()
      await admin.query(`DROP USER ${user}`)
    })
    return { store: mysqlStore({ pool }), grant: () => admin.query(`GRANT INSERT ON justonce_${table} TO ${user}`) }
  }

  test.each<{ table: string; handle: Handle; letters: readonly string[] }>([
    { table: 'inbox', handle: async () => {}, letters: [] },
    { table: 'queue', handle: (context) => context.publish('note.tagged', {}), letters: [] },
    {
      table: 'parked',
      handle: () => Promise.reject(new Error('no luck')),
      letters: ['HANDLER_FAILED', 'HANDLER_FAILED', 'HANDLER_FAILED'],
    },
  ])(
    'without its right to insert into $table messages are held, and it says why',
    async ({ table, handle, letters }) => {
      const { store, grant } = await without(table)
      const transport = memoryTransport()
      const app = justonce({ store, from: transport, to: memoryTransport({ name: 'elsewhere' }), concurrency: 1 })
      const events: JustonceEvent[] = []
      const ids = [1, 2, 3].map((each) => `${table} ${each}`)
      const held = Promise.withResolvers<void>()
      const stuck = () => events.filter((event) => event.kind === 'stuck')
      app.events.listen((event) => {
        events.push(event)
        if (ids.every((id) => stuck().filter(({ messageId }) => messageId === id).length > 1)) held.resolve()
      })
      app.on('note.created', { name: `tag-${table}`, retry: { attempts: 1 } }, async (_, context) => {
        await handle(context)
      })
      onTestFinished(() => app.stop())
      await app.start()
      transport.send(ids.map((id) => ({ id, type: 'note.created', body: {} })))
      await held.promise
      for (const { error } of stuck()) expect(error).toMatchObject({ code: 'STORE_DENIED' })
      expect(await owner.parking.list({ handler: `tag-${table}` })).toEqual([])
      expect(events.filter(({ kind }) => kind === 'processed' || kind === 'store-down')).toEqual([])

      await grant()
      await transport.idle()
      const parked = await owner.parking.list({ handler: `tag-${table}` })
      expect(parked.map(({ reason }) => reason)).toEqual(letters)
      expect(events.filter(({ kind }) => kind === 'processed')).toHaveLength(3 - letters.length)
    },
  )
})
