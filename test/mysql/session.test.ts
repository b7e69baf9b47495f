import type { PoolConnection, RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { suspectsOf } from '../../src/facts/index.ts'
import { mysqlStore } from '../../src/stores/mysql/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { createMysqlDatabase } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireServer('mariadb')
const request = (key: string) => ({ handler: 'tag-note', key, fingerprint: undefined })
const idle = '@@idle_transaction_timeout, @@idle_write_transaction_timeout, @@idle_readonly_transaction_timeout'
const settings = `SELECT @@autocommit, @@tx_isolation, @@innodb_lock_wait_timeout, ${idle}, @@max_statement_time, @@in_transaction`

describe.skipIf(!mariadb.available)('the session of a pooled connection', () => {
  let url: string
  const opened: { end(): Promise<void> }[] = []
  const open = () => {
    const pool = newPool({ url, pool: { connectionLimit: 1 } })
    opened.push(pool)
    return { pool, store: mysqlStore({ pool }) }
  }

  beforeAll(async () => {
    url = await createMysqlDatabase(mariadb.url)
    const { pool, store } = open()
    await store.schema.install()
    await pool.query('CREATE TABLE notes (id int PRIMARY KEY, n int)')
    await pool.query('INSERT INTO notes VALUES (1, 0)')
  })
  afterAll(async () => {
    for (const pool of opened) await pool.end()
  })

  test.each(['work that succeeds', 'work that fails', 'short statements'])(
    'is as it was before, after %s',
    async (how) => {
      const { pool, store } = open()
      await pool.query(`SET innodb_lock_wait_timeout = 7, idle_transaction_timeout = 77, max_statement_time = 12.5,
      tx_isolation = 'SERIALIZABLE', idle_write_transaction_timeout = 78, idle_readonly_transaction_timeout = 79`)
      const [before] = await pool.query(settings)
      const limits = { lockTimeoutMs: 3_000, idleTimeoutMs: 4_000, statementTimeoutMs: 5_000 }
      if (how === 'short statements') {
        await store.parking.reserve({
          limit: 1,
          maxBytes: 1,
          forMs: 1,
          wanted: [{ handler: 'tag-note', type: undefined }],
          pastDead: [],
        })
        await suspectsOf(store).begin(['m1'])
      } else {
        const work = store.transaction(async (tx) => {
          await store.inbox.claim(tx, [request(how)])
          if (how === 'work that fails') throw new Error('no')
        }, limits)
        if (how === 'work that fails') await expect(work).rejects.toThrow('no')
        else await work
      }
      const [after] = await pool.query(settings)
      expect(after).toEqual(before)
    },
  )

  test('inside it is READ COMMITTED, does not commit by itself, and has the limits that were asked for', async () => {
    const { pool } = open()
    const { pool: own, store } = open()
    await own.query(`SET tx_isolation = 'REPEATABLE-READ'`)
    const read = 'SELECT n FROM notes WHERE id = 1'
    await store.transaction(
      async (tx) => {
        const [first] = await tx.query<RowDataPacket[]>(read)
        await pool.query('UPDATE notes SET n = n + 1')
        const [second] = await tx.query<RowDataPacket[]>(read)
        expect(second[0]?.n).toBe(first[0]?.n + 1)
        const [limits] = await tx.query<RowDataPacket[]>(
          'SELECT @@autocommit AS a, @@innodb_lock_wait_timeout AS l, @@idle_transaction_timeout AS i, @@max_statement_time AS s',
        )
        expect({ ...limits[0], s: Number(limits[0]?.s) }).toEqual({ a: 0, l: 1, i: 3, s: 0.25 })
      },
      { lockTimeoutMs: 80, idleTimeoutMs: 2_001, statementTimeoutMs: 250 },
    )
  })

  test.each([1, 3_600])(
    'the idle timeout is the one that was asked for, although MariaDB has others that come before it: %i s',
    async (seconds) => {
      const { pool, store } = open()
      await pool.query(
        `SET idle_write_transaction_timeout = ${seconds}, idle_readonly_transaction_timeout = ${seconds}`,
      )
      await store.transaction(
        async (tx) => {
          const [[timeouts]] = await tx.query<RowDataPacket[]>(`SELECT ${idle}`)
          expect(Object.values(timeouts ?? {})).toEqual([20, 20, 20])
        },
        { idleTimeoutMs: 20_000 },
      )
    },
  )

  test('a pool whose sessions do not commit by themselves is served all the same', async () => {
    const { pool, store } = open()
    const { store: other } = open()
    await pool.query('SET autocommit = 0')
    expect(await recordOf(store, request('late'))).toBeUndefined()
    await other.transaction((tx) => other.inbox.claim(tx, [request('late')]))
    expect((await recordOf(store, request('late')))?.state).toBe('processed')
    await suspectsOf(store).begin(['s1'])
    expect(await suspectsOf(other).look(['s1'])).toEqual([1])
    const [rows] = await pool.query<RowDataPacket[]>('SELECT @@autocommit AS a')
    expect(rows[0]?.a).toBe(0)
  })

  test('a transaction with a claim takes six statements, and asks who the server is only now and then', async () => {
    const { pool } = open()
    const sent: string[] = []
    const counting = {
      async getConnection() {
        const connection = await pool.getConnection()
        const { query } = connection
        connection.query = ((options: { sql: string }) => {
          sent.push(options.sql)
          return Reflect.apply(query, connection, [options])
        }) as typeof connection.query
        return connection
      },
    }
    const store = mysqlStore<PoolConnection>({ pool: counting })
    const begunAt = performance.now()
    await store.transaction((tx) => store.inbox.claim(tx, [request('first of all')]))
    sent.length = 0
    for (const key of ['counted 1', 'counted 2']) await store.transaction((tx) => store.inbox.claim(tx, [request(key)]))
    await store.ping()
    const others = sent.filter((sql) => !sql.includes('UPTIME'))
    expect(others.slice(0, 12).map((sql) => sql.trim().split(' ')[0])).toEqual([
      ...['SET', 'SAVEPOINT', 'INSERT', 'RELEASE', 'COMMIT', 'SET'],
      ...['SET', 'SAVEPOINT', 'INSERT', 'RELEASE', 'COMMIT', 'SET'],
    ])
    // Once a second, however slow the machine is; the first time was before these.
    const seconds = Math.floor((performance.now() - begunAt) / 1_000)
    expect(sent.filter((sql) => sql.includes('UPTIME')).length).toBeLessThanOrEqual(seconds)
  })

  test('a server that is not strict does not cut keys: what does not fit is refused', async () => {
    const { pool, store } = open()
    await pool.query(`SET sql_mode = ''`)
    const work = store.transaction((tx) => store.inbox.claim(tx, [request('x'.repeat(1_025))]))
    await expect(work).rejects.toMatchObject({ code: 'STORE_CANNOT' })
    const fits = 'x'.repeat(1_024)
    await store.transaction((tx) => store.inbox.claim(tx, [request(fits)]))
    expect((await recordOf(store, request(fits)))?.state).toBe('processed')
    expect(await recordOf(store, request('x'.repeat(1_025)))).toBeUndefined()
  })
})
