import type { Pool, PoolConnection, RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { once } from '../../src/engine/once/once.ts'
import { type MysqlStore, mysqlStore } from '../../src/stores/mysql/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { askMysql, createMysqlDatabase } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireServer('mariadb')
const request = (key: string) => ({ handler: 'tag-note', key, fingerprint: undefined })
const quietly = { borrower: 'tag-note', onLateCall: () => {} }

/** Two databases with the same tables in both, as tenants or a test and its copy have them. */
describe.skipIf(!mariadb.available)('a session that others change', () => {
  let url: string
  let other: string
  let pool: Pool
  let store: MysqlStore<PoolConnection>

  beforeAll(async () => {
    const otherUrl = await createMysqlDatabase(mariadb.url)
    other = new URL(otherUrl).pathname.slice(1)
    url = await createMysqlDatabase(mariadb.url)
    for (const each of [otherUrl, url]) {
      const installing = newPool({ url: each })
      await mysqlStore({ pool: installing }).schema.install()
      await installing.query('CREATE TABLE notes (name varchar(100) CHARACTER SET utf8mb4)')
      await installing.query('CREATE TABLE parents (id int PRIMARY KEY)')
      await installing.query('CREATE TABLE children (id int, FOREIGN KEY (id) REFERENCES parents (id))')
      await installing.query(`CREATE PROCEDURE loosens() SET sql_mode = '', foreign_key_checks = 0, autocommit = 0`)
      await installing.query('CREATE PROCEDURE leaves_savepoint() SAVEPOINT sp')
      await installing.query(`CREATE PROCEDURE goes_back() BEGIN
        DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END;
        ROLLBACK TO SAVEPOINT sp;
      END`)
      await installing.end()
    }
  })
  beforeEach(() => {
    pool = newPool({ url, pool: { connectionLimit: 1 } })
    store = mysqlStore({ pool })
    return () => pool.end()
  })
  afterAll(() => askMysql(mariadb.url, `DROP DATABASE IF EXISTS ${other}`))

  const count = async (table: string, key: string, database = new URL(url).pathname.slice(1)) => {
    const column = table === 'notes' ? 'name' : '`key`'
    const sql = `SELECT count(*) AS n FROM ${database}.${table} WHERE ${column} = ?`
    return (await askMysql<{ n: number }>(mariadb.url, sql, [key]))[0]?.n
  }
  /** One borrower after the other in one transaction, as the messages of a batch. */
  const batch = (...borrowers: ((tx: PoolConnection) => Promise<unknown>)[]) =>
    store.transaction(async (tx) => {
      for (const borrower of borrowers) {
        const loan = store.lend(tx, quietly)
        await borrower(loan.tx)
        loan.end()
      }
    })

  test('another user of the pool has left the connection in another database: once() is still once', async () => {
    await pool.query(`USE ${other}`)
    const work = (tx: PoolConnection) => tx.query(`INSERT INTO notes VALUES ('left')`).then(() => {})
    expect((await once(store, { handler: 'tag-note', key: 'left' }, work)).status).toBe('processed')
    await pool.query(`USE ${new URL(url).pathname.slice(1)}`)
    expect((await once(store, { handler: 'tag-note', key: 'left' }, work)).status).toBe('duplicate')
    expect([await count('notes', 'left'), await count('notes', 'left', other)]).toEqual([1, 0])
    expect(await count('justonce_inbox', 'left', other)).toBe(0)
  })

  test('the database that a pool does not show is the one of the first session', async () => {
    const hidden = mysqlStore<PoolConnection>({ pool: { getConnection: () => pool.getConnection() } })
    await hidden.transaction((tx) => hidden.inbox.claim(tx, [request('hidden')]))
    await pool.query(`USE ${other}`)
    const { existing } = await hidden.transaction((tx) => hidden.inbox.claim(tx, [request('hidden')]))
    expect(existing[0]?.state).toBe('processed')
  })

  test('a transaction that was joined is in another database: the record is in ours', async () => {
    const connection = await pool.getConnection()
    await connection.query(`USE ${other}`)
    await connection.beginTransaction()
    const status = await once(store.within(connection), { handler: 'tag-note', key: 'joined' }, () => {})
    await connection.commit()
    connection.release()
    expect(status.status).toBe('processed')
    expect([await count('justonce_inbox', 'joined'), await count('justonce_inbox', 'joined', other)]).toEqual([1, 0])
  })

  test('a handler goes to another database, and neither our records nor its neighbours go with it', async () => {
    await store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request('m1'), request('m2')])
      const first = store.lend(tx, quietly)
      await first.tx.query(`USE ${other}`)
      await first.tx.query(`INSERT INTO notes VALUES ('m1')`)
      first.end()
      const second = store.lend(tx, quietly)
      await second.tx.query(`INSERT INTO notes VALUES ('m2')`)
      second.end()
      await store.inbox.update(tx, [{ ...request('m2'), state: 'processed', result: '1' }])
    })
    expect([await count('notes', 'm1'), await count('notes', 'm1', other)]).toEqual([0, 1])
    expect([await count('notes', 'm2'), await count('notes', 'm2', other)]).toEqual([1, 0])
    expect((await recordOf(store, request('m2')))?.result).toBe('1')
    expect(await count('justonce_inbox', 'm1', other)).toBe(0)
    const [rows] = await pool.query<RowDataPacket[]>('SELECT DATABASE() AS name')
    expect(rows[0]?.name).not.toBe(other)
  })

  test.each([
    ['sql_mode', `SET SESSION sql_mode = ''`],
    ['foreign_key_checks', 'SET foreign_key_checks = 0'],
    ['time_zone', `SET @@session.time_zone = '+05:00'`],
    ['sql_mode', 'CALL loosens()'],
    ['foreign_key_checks', 'CALL loosens()'],
    ['foreign_key_checks', `EXECUTE IMMEDIATE 'SET foreign_key_checks = 0'`],
    ['group_concat_max_len', 'SET group_concat_max_len = 5'],
    ['max_join_size', 'SET @a = 1, @@local.max_join_size = 5, @b = 2'],
    ['character_set_client', 'SET NAMES latin1'],
    ['tx_isolation', 'SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE'],
    ['div_precision_increment', '/*!50000SET*/ div_precision_increment = 9'],
    ['sql_big_selects', 'SELECT 1; SET sql_big_selects = 0'],
  ])('%s is for the neighbour, and for the next user of the pool, as it was before: %s', async (name, sql) => {
    const several = newPool({ url, pool: { connectionLimit: 1, multipleStatements: true } })
    store = mysqlStore({ pool: several })
    const read = async (tx: Pick<PoolConnection, 'query'>) =>
      (await tx.query<RowDataPacket[]>(`SELECT @@SESSION.${name} AS value`))[0][0]?.value
    const outside = await read(several as unknown as PoolConnection)
    const seen: unknown[] = []
    await batch(
      async (tx) => seen.push(await read(tx)),
      (tx) => tx.query(sql),
      async (tx) => seen.push(await read(tx)),
    )
    expect(seen[1]).toEqual(seen[0])
    expect(await read(several as unknown as PoolConnection)).toEqual(outside)
    await several.end()
  })

  test('the clock that a handler sets is its own', async () => {
    const now = async (tx: PoolConnection) =>
      Number((await tx.query<RowDataPacket[]>('SELECT UNIX_TIMESTAMP() AS now'))[0][0]?.now)
    const seen: number[] = []
    await batch(
      (tx) => tx.query('SET timestamp = 1000'),
      async (tx) => seen.push(await now(tx)),
    )
    expect(seen[0]).toBeGreaterThan(1_700_000_000)
  })

  test('a temporary table ends with the loan, and does not hide the table of a neighbour', async () => {
    await batch(
      async (tx) => {
        await tx.query('CREATE TEMPORARY TABLE notes (name varchar(100))')
        await tx.query(`INSERT INTO notes VALUES ('hidden')`)
      },
      (tx) => tx.query(`INSERT INTO notes VALUES ('seen')`),
    )
    expect([await count('notes', 'hidden'), await count('notes', 'seen')]).toEqual([0, 1])
  })

  test.each([
    ['alone', [], []],
    ['above one of the handler', ['SAVEPOINT a'], []],
    ['below one of the handler', [], ['SAVEPOINT a']],
    ['below one of the handler that was used', [], ['SAVEPOINT a', 'CALL leaves_savepoint()', 'RELEASE SAVEPOINT a']],
    ['again after going back', ['SAVEPOINT a', 'CALL leaves_savepoint()', 'ROLLBACK TO a', 'RELEASE SAVEPOINT a'], []],
  ])(
    'a savepoint that a procedure has left open, %s, is for nobody else to go back to',
    async (name, before, after) => {
      const statements = [...before, 'CALL leaves_savepoint()', ...after, `INSERT INTO notes VALUES ('${name}')`]
      await batch(
        async (tx) => {
          for (const sql of statements) await tx.query(sql)
        },
        (tx) => tx.query('CALL goes_back()'),
      )
      expect(await count('notes', name)).toBe(1)
    },
  )

  test('a handler that has called a procedure may have a once() of its own', async () => {
    await batch(async (tx) => {
      await tx.query('CALL leaves_savepoint()')
      const inner = await once(store.within(tx), { handler: 'inner', key: 'nested' }, async (own) => {
        await own.query('CALL leaves_savepoint()')
        await own.query(`INSERT INTO notes VALUES ('nested')`)
      })
      expect(inner.status).toBe('processed')
      await tx.query('CALL goes_back()')
    })
    expect(await count('notes', 'nested')).toBe(1)
  })

  test('a temporary table over one of ours is refused', async () => {
    const work = batch((tx) => tx.query('CREATE TEMPORARY TABLE `justonce_inbox` (a int)'))
    await expect(work).rejects.toMatchObject({ code: 'TX_CONTROL' })
  })

  test.each([
    ['tx_read_only', 'SET SESSION TRANSACTION READ ONLY', 1],
    ['sql_safe_updates', 'SET sql_safe_updates = 1', 1],
    ['sql_select_limit', 'SET sql_select_limit = 0', 0],
    ['unique_checks', 'SET unique_checks = 0', 0],
    ['autocommit', 'SET autocommit = 0', 0],
  ])(
    'another user of the pool has changed %s: our statements do not notice, and it stays as it is',
    async (name, sql, value) => {
      await pool.query(sql)
      await store.transaction((tx) => store.inbox.claim(tx, [request(name)]))
      const { existing } = await store.transaction((tx) => store.inbox.claim(tx, [request(name)]))
      expect(existing[0]?.state).toBe('processed')
      expect((await recordOf(store, request(name)))?.state).toBe('processed')
      await store.transaction((tx) => store.inbox.forget(tx, [request(name)]))
      await store.ping()
      const [rows] = await pool.query<RowDataPacket[]>(`SELECT @@${name} AS value LIMIT 1`)
      expect(rows[0]?.value).toBe(value)
    },
  )
})
