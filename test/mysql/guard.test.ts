import type { Pool, PoolConnection } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mysqlStore } from '../../src/stores/mysql/index.ts'
import { findTransactionControl } from '../../src/stores/mysql/transaction-control.ts'
import { createMysqlDatabase } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireServer('mariadb')

/** The statements that the manuals of MySQL and MariaDB say commit, every way to write those that matter, and harmless ones. */
const statements = [
  ...['COMMIT', '/*!50000COMMIT*/', '/*!COMMIT*/', '/*M!100100COMMIT*/', 'BEGIN', 'START TRANSACTION', 'ROLLBACK'],
  ...['SET autocommit = 1', 'SET `autocommit` = 1', 'SET @@autocommit = 1', 'SET @@`autocommit` = 1'],
  ...['SET @@session.`autocommit` := 1', 'SET LOCAL autocommit = ON', 'SET @a = 1, SESSION autocommit = 1'],
  ...['BEGIN NOT ATOMIC COMMIT; END', 'IF 1 THEN COMMIT; END IF', 'FOR i IN 1..1 DO COMMIT; END FOR'],
  ...['CASE 1 WHEN 1 THEN COMMIT; END CASE', 'REPEAT COMMIT; UNTIL 1 END REPEAT'],
  ...['a: LOOP COMMIT; LEAVE a; END LOOP', `EXECUTE IMMEDIATE 'COMMIT'`, `EXECUTE IMMEDIATE CONCAT('COM', 'MIT')`],
  ...['SET STATEMENT max_statement_time = 9 FOR COMMIT'],
  ...['CREATE TABLE t1 (a int)', 'CREATE OR REPLACE TABLE t1 (a int)', 'CREATE TABLE t2 AS SELECT 1 AS a'],
  ...['ALTER TABLE t1 ADD b int', 'CREATE INDEX i ON t1 (a)', 'DROP INDEX i ON t1', 'RENAME TABLE t2 TO t3'],
  ...['TRUNCATE TABLE t1', 'DROP TABLE t3', 'CREATE VIEW v AS SELECT 1', 'ALTER VIEW v AS SELECT 2', 'DROP VIEW v'],
  ...['CREATE PROCEDURE p() DO 1', 'ALTER PROCEDURE p COMMENT "x"', 'DROP PROCEDURE p'],
  ...['CREATE FUNCTION f() RETURNS int RETURN 1', 'DROP FUNCTION f'],
  ...['CREATE TRIGGER g BEFORE INSERT ON t1 FOR EACH ROW SET @a = 1', 'DROP TRIGGER g'],
  ...['CREATE EVENT e ON SCHEDULE EVERY 1 YEAR DO DO 1', 'ALTER EVENT e DISABLE', 'DROP EVENT e'],
  ...['CREATE SEQUENCE s', 'ALTER SEQUENCE s RESTART 5', 'DROP SEQUENCE s'],
  ...[
    `CREATE SERVER r FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'x')`,
    `ALTER SERVER r OPTIONS (HOST 'y')`,
    'DROP SERVER r',
  ],
  ...['CREATE USER guarded', 'GRANT SELECT ON t1 TO guarded', 'REVOKE SELECT ON t1 FROM guarded'],
  ...[
    'CREATE ROLE guarding',
    'SET DEFAULT ROLE NONE',
    'DROP ROLE guarding',
    `SET PASSWORD FOR guarded = PASSWORD('x')`,
  ],
  ...['RENAME USER guarded TO guarded2', 'ALTER USER guarded2 ACCOUNT LOCK', 'DROP USER guarded2'],
  ...['ANALYZE TABLE t1', 'CHECK TABLE t1', 'OPTIMIZE TABLE t1', 'REPAIR TABLE t1', 'FLUSH TABLES t1', 'FLUSH STATUS'],
  ...[
    'LOCK TABLES t1 READ',
    'UNLOCK TABLES',
    'RESET QUERY CACHE',
    'LOAD INDEX INTO CACHE t1',
    'CACHE INDEX t1 IN default',
  ],
  ...['CHECKSUM TABLE t1', 'BACKUP LOCK t1', 'BACKUP UNLOCK', 'PURGE BINARY LOGS BEFORE "2001-01-01"', 'SHOW TABLES'],
  ...[
    'CREATE TEMPORARY TABLE tt (a int)',
    'INSERT INTO tt VALUES (1)',
    'DROP TEMPORARY TABLE tt',
    'DO 1',
    'SET @b = 2',
  ],
  ...[
    'SAVEPOINT x',
    'ROLLBACK TO x',
    'RELEASE SAVEPOINT x',
    'HANDLER t1 OPEN',
    'HANDLER t1 CLOSE',
    'USE information_schema',
  ],
  ...['EXPLAIN SELECT 1', 'DESCRIBE t1', 'SELECT GET_LOCK("l", 1)', 'SELECT RELEASE_LOCK("l")', 'SET @password = 1'],
  ...['CREATE DATABASE IF NOT EXISTS guarded_database', 'DROP DATABASE guarded_database'],
]

describe.skipIf(!mariadb.available)('what ends a transaction on the server', () => {
  let pool: Pool

  beforeAll(async () => {
    pool = newPool({ url: await createMysqlDatabase(mariadb.url), pool: { connectionLimit: 2 } })
    await mysqlStore({ pool }).schema.install()
    await pool.query('CREATE TABLE witness (a int) ENGINE = InnoDB')
    await pool.query('CREATE TABLE t1 (a int) ENGINE = InnoDB')
  })
  afterAll(() => pool?.end())

  /** The savepoint from before it is gone. */
  async function ends(connection: PoolConnection, sql: string): Promise<boolean> {
    await connection.query('SET autocommit = 0')
    await connection.query('SAVEPOINT before_it')
    await connection.query('INSERT INTO witness VALUES (1)')
    await connection.query(sql).catch(() => {})
    const hasEnded = await connection.query('RELEASE SAVEPOINT before_it').then(
      () => false,
      () => true,
    )
    await connection.query('ROLLBACK').catch(() => {})
    for (const free of ['UNLOCK TABLES', 'BACKUP UNLOCK']) await connection.query(free)
    return hasEnded
  }

  test('is refused, by what the server itself does with each statement', async () => {
    const connection = await pool.getConnection()
    const database = (await connection.query('SELECT DATABASE() AS name'))[0] as { name: string }[]
    const missed: string[] = []
    let ended = 0
    for (const sql of statements) {
      const hasEnded = await ends(connection, sql)
      await connection.query(`USE ${database[0]?.name}`)
      if (hasEnded) ended++
      if (hasEnded && findTransactionControl(sql) === undefined) missed.push(sql)
    }
    connection.destroy()
    expect(missed).toEqual([])
    // Otherwise it has asked for nothing.
    expect(ended).toBeGreaterThan(50)
  })

  test('is refused when it is put together from values', async () => {
    const store = mysqlStore({ pool })
    const tries: ((tx: PoolConnection) => Promise<unknown>)[] = [
      (tx) => tx.query('SET ?', { autocommit: 1 }),
      (tx) => tx.query('SET ?? = 1', ['autocommit']),
      (tx) => tx.query({ sql: 'SET ?? = 1', values: ['autocommit'] }),
    ]
    for (const attempt of tries) {
      const work = store.transaction(async (tx) => {
        await attempt(store.lend(tx, { borrower: 'tag-note', onLateCall: () => {} }).tx)
      })
      await expect(work).rejects.toMatchObject({ code: 'TX_CONTROL' })
    }
  })
})
