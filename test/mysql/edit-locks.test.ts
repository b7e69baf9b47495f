import type { Pool, PoolConnection } from 'mysql2/promise'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ParkedFilter } from '../../src/contracts/index.ts'
import { type MysqlStore, mysqlStore } from '../../src/stores/mysql/index.ts'
import { parkedMessage } from '../../src/testing/sample-records.ts'
import { createMysqlDatabase } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireServer('mariadb')

/** Who comes by skips a row that is locked, as if somebody were dealing with it. */
describe.skipIf(!mariadb.available)('an edit of parked messages', () => {
  let pool: Pool
  let store: MysqlStore<PoolConnection>

  beforeAll(async () => {
    pool = newPool({ url: await createMysqlDatabase(mariadb.url) })
    store = mysqlStore({ pool })
    await store.schema.install()
  })
  afterAll(() => pool?.end())
  beforeEach(() => pool.query('DELETE FROM justonce_parked'))

  const park = (...keys: readonly string[]) =>
    store.transaction((tx) =>
      store.parking.park(
        tx,
        keys.map((key) => parkedMessage(key)),
      ),
    )

  test.each<[string, ParkedFilter]>([
    ['by nothing that an index has', { errorText: 'not in any of them' }],
    ['by their keys', { keys: [{ handler: parkedMessage('a').handler, key: 'a' }], errorText: 'not in any of them' }],
    ['by their redrive', { redrive: 'none' }],
  ])('locks no row that it does not change: %s', async (_, filter) => {
    await park('a', 'b', 'c')
    const connection = await pool.getConnection()
    try {
      // Here InnoDB keeps the locks that it otherwise gives up after a moment.
      await connection.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ')
      await connection.beginTransaction()
      expect(await store.parking.edit(connection, filter, { kind: 'remove' }, 10)).toEqual([])
      const removed = await store.transaction((tx) => store.parking.edit(tx, {}, { kind: 'remove' }, 10))
      expect(removed.map(({ key }) => key)).toEqual(['a', 'b', 'c'])
    } finally {
      await connection.rollback()
      connection.release()
    }
  })

  test('changes as many as it may, although others hold the first ones', async () => {
    await park('a', 'b', 'c', 'd', 'e')
    await store.transaction(async (tx) => {
      expect(await store.parking.edit(tx, {}, { kind: 'remove' }, 2)).toHaveLength(2)
      const removed = await store.transaction((other) => store.parking.edit(other, {}, { kind: 'remove' }, 2))
      expect(removed.map(({ key }) => key)).toEqual(['c', 'd'])
    })
  })
})
