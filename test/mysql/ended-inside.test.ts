import type { Pool, PoolConnection, RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type MysqlStore, mysqlStore } from '../../src/stores/mysql/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { type MariadbServer, startMariadb } from '../servers/mariadb.ts'
import { requireBinaries } from '../servers/require.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireBinaries('mariadb')
const request = (key: string) => ({ handler: 'tag-note', key, fingerprint: undefined })
const quietly = { borrower: 'tag-note', onLateCall: () => {} }

/** What the facade cannot see in the text of a statement, on a server where a lock timeout ends the transaction, too. */
describe.skipIf(!mariadb.available)('a transaction that is ended from inside', () => {
  let server: MariadbServer
  let pool: Pool
  let store: MysqlStore<PoolConnection>

  beforeAll(async () => {
    server = await startMariadb({ settings: { innodb_rollback_on_timeout: 'ON' } })
    pool = newPool({ url: await server.createDatabase('app') })
    store = mysqlStore({ pool })
    await store.schema.install()
    await pool.query('CREATE TABLE notes (name varchar(50) PRIMARY KEY, n int DEFAULT 0)')
    await pool.query('CREATE PROCEDURE commits() COMMIT')
    await pool.query('CREATE PROCEDURE alters() CREATE TABLE IF NOT EXISTS other (a int)')
    await pool.query('CREATE PROCEDURE harmless() UPDATE notes SET n = n + 1')
    await pool.query(`INSERT INTO notes (name) VALUES ('held')`)
  })
  afterAll(async () => {
    await pool?.end()
    await server?.stop()
  })

  const countOf = async (name: string) => {
    const [rows] = await pool.query<RowDataPacket[]>('SELECT count(*) AS n FROM notes WHERE name = ?', [name])
    return rows[0]?.n
  }

  test.each(['commits', 'alters'])('a procedure that %s is detected, and the claims are taken back', async (name) => {
    const keys = [`${name} 1`, `${name} 2`]
    let broken: Error | undefined
    const work = store.transaction(async (tx) => {
      await store.inbox.claim(tx, keys.map(request))
      const loan = store.lend(tx, quietly)
      await loan.tx.query('INSERT INTO notes (name) VALUES (?)', [name])
      await loan.tx.query(`CALL ${name}()`)
      await loan.tx.query('INSERT INTO notes (name) VALUES (?)', [`${name} later`]).catch(() => {})
      broken = loan.end().broken
    })
    await expect(work).rejects.toMatchObject({ code: 'TX_ENDED' })
    expect(broken).toMatchObject({ code: 'TX_ENDED' })
    expect(await store.inbox.find(keys.map(request))).toEqual([undefined, undefined])
    expect(await countOf(`${name} later`)).toBe(0)
  })

  test('claims of a rival, made after the transaction had ended, are not taken back', async () => {
    const rival = mysqlStore({ pool })
    const work = store.transaction(
      async (tx) => {
        await store.inbox.claim(tx, [request('r1')])
        const loan = store.lend(tx, quietly)
        await timeOut(loan.tx).catch(() => {})
        await rival.transaction((other) => rival.inbox.claim(other, [request('r1')]))
      },
      { lockTimeoutMs: 1 },
    )
    await expect(work).rejects.toMatchObject({ code: 'TX_ENDED' })
    expect((await recordOf(store, request('r1')))?.state).toBe('processed')
  })

  test('a lock timeout that has ended the transaction breaks the loan, and nothing of it is left', async () => {
    let trouble: string | undefined
    const work = store.transaction(
      async (tx) => {
        await store.inbox.claim(tx, [request('t1')])
        const loan = store.lend(tx, quietly)
        await loan.tx.query(`INSERT INTO notes (name) VALUES ('before')`)
        await timeOut(loan.tx).catch(() => {})
        await loan.tx.query(`INSERT INTO notes (name) VALUES ('after')`).catch(() => {})
        trouble = loan.end().trouble
      },
      { lockTimeoutMs: 1 },
    )
    await expect(work).rejects.toMatchObject({ code: 'TX_ENDED' })
    expect(trouble).toBe('conflict')
    expect([await countOf('before'), await countOf('after')]).toEqual([0, 0])
    expect(await recordOf(store, request('t1'))).toBeUndefined()
  })

  test('a procedure that only writes is part of the transaction', async () => {
    await store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request('h1')])
      const loan = store.lend(tx, quietly)
      await loan.tx.query('CALL harmless()')
      expect(loan.end().broken).toBeUndefined()
    })
    expect((await recordOf(store, request('h1')))?.state).toBe('processed')
  })

  test('a killed server undoes what was open, keeps what was committed, and is unavailable meanwhile', async () => {
    await store.transaction((tx) => store.inbox.claim(tx, [request('kept')]))
    const failure = await store
      .transaction(async (tx) => {
        await store.inbox.claim(tx, [request('undone')])
        await server.kill9()
      })
      .catch((error: unknown) => error)
    expect(store.classify(failure)).toBe('unavailable')
    expect(store.classify(await store.ping().catch((error: unknown) => error))).toBe('unavailable')
    await server.restart()
    await store.ping()
    expect((await recordOf(store, request('kept')))?.state).toBe('processed')
    expect(await recordOf(store, request('undone'))).toBeUndefined()
    const { existing } = await store.transaction((tx) => store.inbox.claim(tx, [request('undone')]))
    expect(existing).toEqual([undefined])
  })

  /** Waits in vain for a row that somebody else holds. */
  async function timeOut(tx: PoolConnection): Promise<void> {
    const holder = await pool.getConnection()
    try {
      await holder.beginTransaction()
      await holder.query(`UPDATE notes SET n = n + 1 WHERE name = 'held'`)
      await tx.query(`UPDATE notes SET n = n + 1 WHERE name = 'held'`)
    } finally {
      await holder.rollback()
      holder.release()
    }
  }
})
