import type { RowDataPacket } from 'mysql2/promise'
import { describe, expect, onTestFinished, test } from 'vitest'
import { justonce } from '../../src/index.ts'
import { mysqlStore } from '../../src/stores/mysql/index.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { createMysqlDatabase } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireServer('mariadb')
const connections = 3

/** The application wants its sessions so, and all of them are. */
describe.skipIf(!mariadb.available)('settings that every session of a pool has', () => {
  test.each([
    `sql_mode = 'ORACLE'`,
    `sql_mode = 'EMPTY_STRING_IS_NULL'`,
    `completion_type = 'RELEASE'`,
    `completion_type = 'CHAIN'`,
  ])('%s: what is published is sent, what fails is parked, and no transaction is left open', async (setting) => {
    const url = await createMysqlDatabase(mariadb.url)
    const pool = newPool({ url, pool: { connectionLimit: connections } })
    onTestFinished(() => pool.end())
    // In the queue of the connection before anything that is asked on it.
    pool.pool.on('connection', (connection) => connection.query(`SET SESSION ${setting}`))
    const store = mysqlStore({ pool })
    const transport = memoryTransport()
    const app = justonce({ store, transport })
    app.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, async ({ id }, { publish }) => {
      if (id === 'bad') throw new Error('a bad note')
      await publish('note.tagged', {}, { id: `tagged ${id}` })
    })
    const tagged = Promise.withResolvers<string>()
    app.on('note.tagged', { name: 'see-tag' }, async ({ id }) => tagged.resolve(id))
    onTestFinished(() => app.stop())
    await store.schema.install()
    await app.start()
    transport.send(['bad', 'good'].map((id) => ({ id, type: 'note.created', body: { id } })))
    expect(await tagged.promise).toBe('tagged good')
    await transport.idle()
    const [parked] = await store.parking.list()
    expect(parked).toMatchObject({ messageId: 'bad', state: 'dead' })
    expect(String(Buffer.from(parked?.message.body ?? []))).toContain('"bad"')
    await app.stop()
    const held = await Promise.all(Array.from({ length: connections }, () => pool.getConnection()))
    for (const connection of held) {
      const [[found]] = await connection.query<RowDataPacket[]>('SELECT @@in_transaction AS left_open')
      expect(found).toEqual({ left_open: 0 })
      connection.release()
    }
  })
})
