import mysql from 'mysql2'
import type { Pool, PoolConnection } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { leasesOf } from '../../src/facts/index.ts'
import { type MysqlStore, mysqlStore } from '../../src/stores/mysql/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { gate, hold, staysPending } from '../../src/testing/waiting.ts'
import { createMysqlDatabase } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireServer('mariadb')
const request = (key: string) => ({ handler: 'tag-note', key, fingerprint: undefined })

describe.skipIf(!mariadb.available)('claims in InnoDB', () => {
  let url: string
  let pool: Pool
  let store: MysqlStore<PoolConnection>

  beforeAll(async () => {
    url = await createMysqlDatabase(mariadb.url)
    pool = newPool({ url })
    store = mysqlStore({ pool })
    await store.schema.install()
  })
  afterAll(() => pool?.end())

  test('several who wait for one that is undone get over the deadlock by themselves, and one gets the claim', async () => {
    for (let round = 0; round < 10; round++) {
      const keys = [`a${round}`, `b${round}`].map(request)
      const first = await hold(store, (tx) => store.inbox.claim(tx, keys))
      const waiting = [1, 2, 3, 4].map(() => store.transaction((tx) => store.inbox.claim(tx, keys)))
      await staysPending(Promise.race(waiting), 'a rival')
      await first.undo()
      const firsts = (await Promise.all(waiting)).filter(({ existing }) => existing[0] === undefined)
      expect(firsts.length).toBe(1)
      expect(firsts[0]?.existing).toEqual([undefined, undefined])
    }
  })

  test('a known duplicate in a long transaction does not hold up the same duplicate elsewhere', async () => {
    await store.transaction((tx) => store.inbox.claim(tx, [request('known')]))
    const first = await hold(store, (tx) => store.inbox.claim(tx, [request('known'), request('new 1')]))
    const { existing } = await store.transaction((tx) => store.inbox.claim(tx, [request('known'), request('new 2')]), {
      lockTimeoutMs: 1,
    })
    expect(existing.map((record) => record?.state)).toEqual(['processed', undefined])
    await first.commit()
  })

  test('inside a REPEATABLE READ transaction of the caller a duplicate is seen although its snapshot has no record', async () => {
    const connection = await pool.getConnection()
    try {
      await connection.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ')
      await connection.beginTransaction()
      await connection.query('SELECT * FROM justonce_inbox')
      await store.transaction((tx) => store.inbox.claim(tx, [request('rival')]))
      const joined = store.within(connection)
      const { existing } = await joined.savepoint(() => joined.inbox.claim(connection, [request('rival')]))
      expect(existing[0]?.state).toBe('processed')
      await connection.commit()
    } finally {
      connection.release()
    }
  })

  test('without a transaction of the caller nothing can be joined', async () => {
    const connection = await pool.getConnection()
    try {
      const joined = store.within(connection)
      const work = joined.savepoint(() => joined.inbox.claim(connection, [request('alone')]))
      await expect(work).rejects.toMatchObject({ code: 'TX_NOT_OPEN' })
      expect(await recordOf(store, request('alone'))).toBeUndefined()
    } finally {
      connection.release()
    }
  })

  test('a call that is under way when its connection is cut off ends with an error', async () => {
    const holder = await hold(store, (tx) => store.inbox.claim(tx, [request('held')]))
    const abort = new AbortController()
    const begun = gate()
    let call: Promise<unknown> | undefined
    const work = store.transaction(
      async (tx) => {
        call = store.lend(tx, { borrower: 'tag-note', onLateCall: () => {} }).tx.query('SELECT sleep(60)')
        call.catch(() => {})
        begun.open()
        await call
      },
      { signal: abort.signal },
    )
    work.catch(() => {})
    await begun.opened
    abort.abort(new Error('enough'))
    await expect(work).rejects.toThrow('enough')
    await expect(call).rejects.toThrow('Connection lost')
    await holder.undo()
  })

  test('the pool with callbacks serves as well, and odd options of the client change nothing', async () => {
    const callbacks = mysql.createPool({
      uri: url,
      connectionLimit: 2,
      multipleStatements: true,
      namedPlaceholders: true,
      rowsAsArray: false,
      nestTables: true,
      dateStrings: true,
      supportBigNumbers: true,
      bigNumberStrings: true,
      typeCast: () => 'nonsense',
      flags: ['-FOUND_ROWS'],
    })
    const odd = mysqlStore({ pool: callbacks })
    expect(odd.capabilities.connections).toBe(2)
    const key = { handler: 'tag-note', key: ':id ? ü', fingerprint: Uint8Array.of(0, 255) }
    expect((await odd.transaction((tx) => odd.inbox.claim(tx, [key]))).existing).toEqual([undefined])
    expect((await recordOf(store, key))?.fingerprint).toEqual(Buffer.of(0, 255))
    expect((await odd.transaction((tx) => odd.inbox.claim(tx, [key]))).existing[0]?.state).toBe('processed')
    const lease = await leasesOf(odd).acquire('maintainer', 60_000)
    expect(await leasesOf(odd).renew('maintainer', lease?.fence ?? -1, 60_000)).toBe(true)
    const controlled = odd.transaction(async (tx) => {
      await tx.query('SELECT 1; COMMIT')
    })
    await expect(controlled).rejects.toMatchObject({ code: 'TX_CONTROL' })
    await callbacks.promise().end()
  })
})
