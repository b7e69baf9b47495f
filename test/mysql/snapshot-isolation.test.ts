import type { Pool, PoolConnection, RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { once } from '../../src/index.ts'
import { type MysqlStore, mysqlStore } from '../../src/stores/mysql/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { askMysql, createMysqlDatabase } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireServer('mariadb')
const hasIt =
  mariadb.available && (await askMysql(mariadb.url, `SHOW VARIABLES LIKE 'innodb_snapshot_isolation'`)).length > 0

/** The default of MariaDB 11.6 and later: who changes a row that was changed since its snapshot loses the whole transaction. */
describe.skipIf(!hasIt)('work in a transaction of the caller with innodb_snapshot_isolation', () => {
  let pool: Pool
  let store: MysqlStore<PoolConnection>
  const charge = { handler: 'charge', key: 'k1' }

  beforeAll(async () => {
    pool = newPool({ url: await createMysqlDatabase(mariadb.url) })
    store = mysqlStore({ pool })
    await store.schema.install()
    await pool.query('CREATE TABLE effects (name varchar(100) NOT NULL)')
    await pool.query('CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL)')
    await pool.query('INSERT INTO accounts VALUES (1, 0)')
  })
  afterAll(() => pool?.end())
  beforeEach(() => pool.query('DELETE FROM effects'))

  test('leaves nothing behind if it swallows the error and goes on', async () => {
    const connection = await pool.getConnection()
    const outcome = await (async () => {
      await connection.query('SET innodb_snapshot_isolation = ON')
      await connection.beginTransaction()
      await connection.query('SELECT * FROM accounts')
      await pool.query('UPDATE accounts SET balance = balance + 1')
      return await once(store.within(connection), charge, async (tx) => {
        await tx.query(`INSERT INTO effects VALUES ('before')`)
        const error = await tx.query('UPDATE accounts SET balance = balance + 10').catch((error: unknown) => error)
        expect(error).toMatchObject({ errno: 1020 })
        await tx.query(`INSERT INTO effects VALUES ('after')`).catch(() => {})
      })
    })()
      .finally(() => connection.destroy())
      .catch((error: unknown) => error)
    expect(outcome).toMatchObject({ code: 'TX_ENDED' })
    expect((await pool.query<RowDataPacket[]>('SELECT * FROM effects'))[0]).toEqual([])
    expect(await recordOf(store, charge)).toBeUndefined()
  })
})
