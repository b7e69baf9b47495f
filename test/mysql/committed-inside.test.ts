import type { Pool, PoolConnection, RowDataPacket } from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { once } from '../../src/engine/once/once.ts'
import { type MysqlStore, mysqlStore } from '../../src/stores/mysql/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { gate } from '../../src/testing/waiting.ts'
import { type MariadbServer, startMariadb } from '../servers/mariadb.ts'
import { requireBinaries } from '../servers/require.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireBinaries('mariadb')
const request = (key: string) => ({ handler: 'tag-note', key, fingerprint: undefined })
const quietly = { borrower: 'tag-note', onLateCall: () => {} }

/** A procedure commits, and nobody is left to say so: the connection is discarded, or the process is gone. */
describe.skipIf(!mariadb.available)('a transaction that is committed from inside', () => {
  let server: MariadbServer
  let url: string
  let pool: Pool
  let store: MysqlStore<PoolConnection>

  beforeAll(async () => {
    server = await startMariadb({ settings: { innodb_rollback_on_timeout: 'ON' } })
    url = await server.createDatabase('app')
    pool = newPool({ url })
    store = mysqlStore({ pool })
    await store.schema.install()
    await pool.query('CREATE TABLE notes (name varchar(50) PRIMARY KEY)')
    await pool.query(`INSERT INTO notes VALUES ('held')`)
    await pool.query(`CREATE PROCEDURE commits_and_sleeps() BEGIN COMMIT; DO sleep(60); END`)
    await pool.query('CREATE PROCEDURE commits() COMMIT')
    await pool.query('CREATE PROCEDURE harmless() DO 1')
    await pool.query('CREATE PROCEDURE turns_autocommit_on() SET autocommit = 1')
    await pool.query('CREATE PROCEDURE goes_back() ROLLBACK TO SAVEPOINT own')
  })
  afterAll(async () => {
    await pool?.end()
    await server?.stop()
  })

  const countOf = async (name: string) =>
    (await pool.query<RowDataPacket[]>('SELECT count(*) AS n FROM notes WHERE name = ?', [name]))[0][0]?.n
  const sleepers = async (): Promise<number> => {
    const sql = `SELECT count(*) AS n FROM information_schema.processlist WHERE info LIKE 'DO sleep%' AND command = 'Query'`
    return (await pool.query<RowDataPacket[]>(sql))[0][0]?.n
  }
  /** Resolves when the procedure has committed: what it sleeps after is seen from outside. */
  const asleep = async () => {
    while ((await sleepers()) === 0);
  }
  // A store does not wait for the end of what it has cut off, and the next test must not take it for its own.
  afterEach(async () => {
    while ((await sleepers()) > 0);
  })
  const claimedAnew = async (...keys: string[]) => {
    const { existing } = await store.transaction((tx) => store.inbox.claim(tx, keys.map(request)))
    return existing.map((record) => record === undefined)
  }

  test('when its time is up, nothing of the batch is taken for processed', async () => {
    const timeout = new AbortController()
    const work = store.transaction(
      async (tx) => {
        await store.inbox.claim(tx, ['t1', 't2', 't3'].map(request))
        const loan = store.lend(tx, quietly)
        await loan.tx.query('CALL commits_and_sleeps()')
      },
      { signal: timeout.signal },
    )
    await asleep()
    timeout.abort(new Error('its time is up'))
    await expect(work).rejects.toThrow('its time is up')
    expect(await claimedAnew('t1', 't2', 't3')).toEqual([true, true, true])
  })

  test('when nobody awaits it, nothing of the batch is taken for processed', async () => {
    const work = store.transaction(async (tx) => {
      await store.inbox.claim(tx, ['f1', 'f2'].map(request))
      const loan = store.lend(tx, quietly)
      loan.tx.query('CALL commits_and_sleeps()').catch(() => {})
      await asleep()
      throw new Error('without waiting for it')
    })
    await expect(work).rejects.toThrow('without waiting for it')
    expect(await claimedAnew('f1', 'f2')).toEqual([true, true])
  })

  test('when the session is killed after it, as with the process it belongs to, a rival gets the claim', async () => {
    const threads: number[] = []
    const work = store.transaction(async (tx) => {
      await store.inbox.claim(tx, ['k1', 'k2'].map(request))
      threads.push(tx.threadId)
      await store.lend(tx, quietly).tx.query('CALL commits_and_sleeps()')
    })
    work.catch(() => {})
    await asleep()
    const rival = mysqlStore({ pool })
    expect((await recordOf(rival, request('k1')))?.state).toBeUndefined()
    await pool.query(`KILL ${threads[0]}`)
    await expect(work).rejects.toThrow()
    expect(await claimedAnew('k1', 'k2')).toEqual([true, true])
    // Now it is done, once and for all.
    expect(await claimedAnew('k1', 'k2')).toEqual([false, false])
  })

  test('a position that was moved stands where it was', async () => {
    const to = (next: string) => ({ next, incarnation: 'i' })
    const place = { source: 's', partition: '0' }
    const move = (tx: PoolConnection, expected: string | undefined, next: string, partition = '0') =>
      store.positions.move(tx, 'g', [
        { ...place, partition, expected: expected === undefined ? undefined : to(expected), to: to(next) },
      ])
    await store.transaction((tx) => move(tx, undefined, '10'))
    const work = store.transaction(async (tx) => {
      await move(tx, '10', '20')
      await move(tx, undefined, '5', '1')
      await store.lend(tx, quietly).tx.query('CALL commits_and_sleeps()')
    })
    work.catch(() => {})
    await asleep()
    const found = await store.positions.load('g', [place, { ...place, partition: '1' }])
    expect(found).toEqual([to('10'), undefined])
    const sleeping = `SELECT id FROM information_schema.processlist WHERE info LIKE 'DO sleep%'`
    const [rows] = await pool.query<RowDataPacket[]>(sleeping)
    for (const { id } of rows) await pool.query(`KILL ${id}`)
    await expect(work).rejects.toThrow()
    await store.transaction(async (tx) => {
      await move(tx, '10', '30')
      await move(tx, undefined, '6', '1')
      await store.lend(tx, quietly).tx.query('CALL harmless()')
    })
    expect(await store.positions.load('g', [place, { ...place, partition: '1' }])).toEqual([to('30'), to('6')])
  })

  test('after a part that was undone, and a savepoint of its own, it is still not taken for processed', async () => {
    const threads: number[] = []
    const work = store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request('p1')])
      threads.push(tx.threadId)
      await store.parts.next(tx)
      await store.lend(tx, quietly).tx.query('CALL harmless()')
      await store.parts.undo(tx)
      const { tx: lent } = store.lend(tx, quietly)
      await lent.query('SAVEPOINT own')
      await lent.query('CALL harmless()')
      await lent.query('ROLLBACK TO own')
      await lent.query('CALL commits_and_sleeps()')
    })
    work.catch(() => {})
    await asleep()
    await pool.query(`KILL ${threads[0]}`)
    await expect(work).rejects.toThrow()
    expect(await claimedAnew('p1')).toEqual([true])
  })

  test.each([
    [
      'after a procedure that went back to a savepoint',
      ['SAVEPOINT own', 'CALL goes_back()', 'CALL commits_and_sleeps()'],
    ],
    ['called by SET STATEMENT', ['SET STATEMENT max_statement_time = 100 FOR CALL commits_and_sleeps()']],
    [
      'called by SET STATEMENT with a FOR in its value',
      [`SET STATEMENT sql_mode = SUBSTRING('ANSI' FROM 1 FOR 4) FOR CALL commits_and_sleeps()`],
    ],
  ])('%s, it is still not taken for processed', async (name, statements) => {
    const threads: number[] = []
    const work = store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request(name)])
      threads.push(tx.threadId)
      const { tx: lent } = store.lend(tx, quietly)
      for (const sql of statements) await lent.query(sql)
    })
    work.catch(() => {})
    await asleep()
    await pool.query(`KILL ${threads[0]}`)
    await expect(work).rejects.toThrow()
    expect(await claimedAnew(name)).toEqual([true])
  })

  test('a procedure that does not commit leaves a record like any other', async () => {
    await store.transaction(async (tx) => {
      await store.inbox.claim(tx, ['h1', 'h2'].map(request))
      await store.lend(tx, quietly).tx.query('CALL harmless()')
      await store.inbox.update(tx, [{ ...request('h2'), state: 'parked' }])
    })
    const records = await store.inbox.find(['h1', 'h2'].map(request))
    expect(records.map((record) => record?.state)).toEqual(['processed', 'parked'])
  })

  test('what was claimed before it is still its own: another claim of the same key finds it', async () => {
    await store.transaction(async (tx) => {
      await store.inbox.claim(tx, ['s1', 's2'].map(request))
      await store.lend(tx, quietly).tx.query('CALL harmless()')
      const { existing } = await store.inbox.claim(tx, ['s1', 's3'].map(request))
      expect(existing.map((record) => record?.state)).toEqual(['processed', undefined])
    })
    expect(await claimedAnew('s1', 's2', 's3')).toEqual([false, false, false])
  })

  test('a transaction that was joined: another claim of the same key finds the first', async () => {
    const connection = await pool.getConnection()
    await connection.beginTransaction()
    const joined = store.within(connection)
    let runs = 0
    await once(joined, { handler: 'tag-note', key: 'n1' }, async (tx) => {
      await tx.query('CALL harmless()')
      await once(joined, { handler: 'tag-note', key: 'n1' }, () => {
        runs++
      })
    })
    expect(runs).toBe(0)
    await connection.commit()
    connection.release()
    expect(await claimedAnew('n1')).toEqual([false])
  })

  test('a position that was moved twice stands where it was before the first', async () => {
    const to = (next: string) => ({ next, incarnation: 'i' })
    const place = { source: 'twice', partition: '0' }
    const move = (tx: PoolConnection, expected: string | undefined, next: string) =>
      store.positions.move(tx, 'g', [
        { ...place, expected: expected === undefined ? undefined : to(expected), to: to(next) },
      ])
    await store.transaction((tx) => move(tx, undefined, '10'))
    const work = store.transaction(async (tx) => {
      await move(tx, '10', '20')
      await move(tx, '20', '30')
      await store.lend(tx, quietly).tx.query('CALL commits()')
    })
    await expect(work).rejects.toMatchObject({ code: 'TX_ENDED' })
    expect(await store.positions.load('g', [place])).toEqual([to('10')])
  })

  test('at no moment after one that commits and turns autocommit on is the claim taken for processed', async () => {
    const own = newPool({ url })
    const seen: unknown[] = []
    let isLooking = false
    const getConnection = own.getConnection.bind(own)
    own.getConnection = async () => {
      const connection = await getConnection()
      const query = connection.query.bind(connection) as (...given: unknown[]) => Promise<unknown>
      // The process may die before any of them.
      const looking = async (...given: unknown[]) => {
        if (isLooking) seen.push((await recordOf(store, request('a1')))?.state)
        return await query(...given)
      }
      return Object.assign(connection, { query: looking })
    }
    const watched = mysqlStore({ pool: own })
    const work = watched.transaction(async (tx) => {
      await watched.inbox.claim(tx, [request('a1')])
      await tx.query('CALL turns_autocommit_on()')
      isLooking = true
    })
    await expect(work).rejects.toMatchObject({ code: 'TX_ENDED' })
    expect(seen.length).toBeGreaterThan(0)
    expect(new Set(seen)).toEqual(new Set([undefined]))
    await own.end()
    expect(await claimedAnew('a1')).toEqual([true])
  })

  test('a transaction that was joined: one that commits is detected, and the claim is not kept', async () => {
    const connection = await pool.getConnection()
    await connection.beginTransaction()
    const work = once(store.within(connection), { handler: 'tag-note', key: 'j1' }, async (tx) => {
      await tx.query('CALL commits()')
    })
    await expect(work).rejects.toMatchObject({ code: 'TX_ENDED' })
    await connection.rollback()
    connection.release()
    expect(await claimedAnew('j1')).toEqual([true])
  })

  test('a transaction that was joined: at no moment after one that commits is the claim taken for processed', async () => {
    const connection = await pool.getConnection()
    const seen: unknown[] = []
    const query = connection.query.bind(connection) as (...given: unknown[]) => Promise<unknown>
    // The process may die before any of them.
    const looking = async (...given: unknown[]) => {
      seen.push((await recordOf(store, request('j2')))?.state)
      return await query(...given)
    }
    await connection.beginTransaction()
    const work = once(store.within(connection), { handler: 'tag-note', key: 'j2' }, async (tx) => {
      await tx.query('CALL commits()')
      Object.assign(connection, { query: looking })
    })
    await expect(work).rejects.toMatchObject({ code: 'TX_ENDED' })
    Object.assign(connection, { query })
    await connection.rollback()
    connection.release()
    expect(seen.length).toBeGreaterThan(1)
    expect(new Set(seen)).toEqual(new Set([undefined]))
    expect(await claimedAnew('j2')).toEqual([true])
  })

  test('a transaction that was joined: a lock timeout that ends it is detected, and nothing is written after it', async () => {
    const holding = gate()
    const locked = gate()
    const holder = store.transaction(async (tx) => {
      await tx.query(`SELECT * FROM notes WHERE name = 'held' FOR UPDATE`)
      locked.open()
      await holding.opened
    })
    await locked.opened
    const connection = await pool.getConnection()
    await connection.query('SET innodb_lock_wait_timeout = 1')
    await connection.beginTransaction()
    const work = once(store.within(connection), { handler: 'tag-note', key: 'w1' }, async (tx) => {
      await tx.query(`INSERT INTO notes VALUES ('w1 before')`)
      await tx.query(`SELECT * FROM notes WHERE name = 'held' FOR UPDATE`).catch(() => {})
      await tx.query(`INSERT INTO notes VALUES ('w1 after')`).catch(() => {})
    })
    await expect(work).rejects.toMatchObject({ code: 'TX_ENDED' })
    await connection.rollback()
    connection.release()
    holding.open()
    await holder
    expect([await countOf('w1 before'), await countOf('w1 after')]).toEqual([0, 0])
    expect(await claimedAnew('w1')).toEqual([true])
  })

  test('a transaction that was joined: a claim that times out has ended it, and says so', async () => {
    const holding = gate()
    const claimed = gate()
    const holder = store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request('c1')])
      claimed.open()
      await holding.opened
    })
    await claimed.opened
    const connection = await pool.getConnection()
    await connection.query('SET innodb_lock_wait_timeout = 1')
    await connection.beginTransaction()
    const work = once(store.within(connection), { handler: 'tag-note', key: 'c1' }, () => {})
    const failure = await work.catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'TX_ENDED' })
    expect(store.classify(failure)).toBe('conflict')
    await connection.rollback()
    connection.release()
    holding.open()
    await holder
  })
})
