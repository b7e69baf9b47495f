import type { Pool, PoolConnection } from 'mysql2/promise'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type MysqlStore, mysqlStore } from '../../src/stores/mysql/index.ts'
import { toQueue } from '../../src/testing/sample-records.ts'
import { createMysqlDatabase } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireServer('mariadb')

describe.skipIf(!mariadb.available)('the queue of a MySQL store', () => {
  let pool: Pool
  let store: MysqlStore<PoolConnection>
  beforeEach(async () => {
    pool = newPool({ url: await createMysqlDatabase(mariadb.url) })
    store = mysqlStore({ pool })
    await store.schema.install()
  })
  afterEach(() => pool.end())

  test('thousands that a wrong clock has hidden are all shortened by one take', async () => {
    const messages = Array.from({ length: 2_500 }, (_, index) => toQueue(`m${index}`))
    await store.queue.send(undefined, 'notes', messages)
    await pool.query('UPDATE justonce_queue SET visible_at = (UNIX_TIMESTAMP() + 86400) * 1000')
    expect(await store.queue.take('notes', { limit: 10, visibilityMs: 30_000 })).toEqual([])
    const [rows] = await pool.query(
      'SELECT sequence FROM justonce_queue WHERE visible_at > (UNIX_TIMESTAMP() + 601) * 1000 LIMIT 1',
    )
    expect(rows).toEqual([])
  })

  test('a trigger that undoes what a take has changed is reported: otherwise everybody would take the same messages', async () => {
    await store.queue.send(undefined, 'notes', [toQueue('m1'), toQueue('m2')])
    await pool.query(`CREATE TRIGGER keep BEFORE UPDATE ON justonce_queue FOR EACH ROW
      SET NEW.visible_at = OLD.visible_at, NEW.deliveries = OLD.deliveries`)
    const take = store.queue.take('notes', { limit: 10, visibilityMs: 30_000 })
    await expect(take).rejects.toMatchObject({ code: 'STORE_DENIED' })
  })
})
