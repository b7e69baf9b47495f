import { expect, test } from 'vitest'
import { toQueue } from '../../src/encoding/packed-message.ts'
import { mysqlStore } from '../../src/stores/mysql/index.ts'
import { createMysqlDatabase } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireServer('mariadb')

test.skipIf(!mariadb.available)('thousands that a wrong clock has hidden are all shortened by one take', async () => {
  const pool = newPool({ url: await createMysqlDatabase(mariadb.url) })
  try {
    const store = mysqlStore({ pool })
    await store.schema.install()
    const message = { key: undefined, type: 'note.created', body: Uint8Array.of(1), headers: {}, sentAt: new Date(0) }
    const messages = Array.from({ length: 2_500 }, (_, index) => toQueue({ ...message, id: `m${index}` }))
    await store.queue.send(undefined, 'notes', messages)
    await pool.query('UPDATE justonce_queue SET visible_at = (UNIX_TIMESTAMP() + 86400) * 1000')
    expect(await store.queue.take('notes', { limit: 10, visibilityMs: 30_000 })).toEqual([])
    const [rows] = await pool.query(
      'SELECT sequence FROM justonce_queue WHERE visible_at > (UNIX_TIMESTAMP() + 601) * 1000 LIMIT 1',
    )
    expect(rows).toEqual([])
  } finally {
    await pool.end()
  }
})
