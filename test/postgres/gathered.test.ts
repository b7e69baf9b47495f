import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Loan } from '../../src/contracts/index.ts'
import { type PostgresStore, postgresStore } from '../../src/stores/postgres/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { type ByteProxy, byteProxy } from './byte-proxy.ts'
import { wireFrames } from './wire-frames.ts'

const postgres = await requireServer('postgres')

type Tx = pg.PoolClient

/** Where it begins, from the end of what the server sends. */
const readyFrame = -6

describe.skipIf(!postgres.available)('pg: statements of messages that interleave travel together', () => {
  let frames: string[]
  /** If it is set, the word that the server is ready does not pass, and this is called instead. */
  let insteadOfReady: (() => void) | undefined
  let proxy: ByteProxy
  let pool: pg.Pool
  let admin: pg.Pool
  let store: PostgresStore<Tx>

  beforeAll(async () => {
    const original = await createDatabase(postgres.url)
    proxy = await byteProxy(original, () => {
      const sent = wireFrames((type) => frames.push(type), { hasStartup: true })
      return {
        sent(bytes) {
          sent(bytes)
          return bytes
        },
        answered(bytes) {
          if (insteadOfReady === undefined || bytes.at(readyFrame) !== 'Z'.charCodeAt(0)) return bytes
          insteadOfReady()
          return bytes.subarray(0, readyFrame)
        },
      }
    })
    frames = []
    admin = new pg.Pool({ connectionString: original })
    pool = new pg.Pool({ connectionString: proxy.url(original), max: 1 })
    store = postgresStore({ pool, listen: false })
    await store.schema.install()
    await pool.query('CREATE TABLE notes (id int PRIMARY KEY, text text)')
  })
  afterAll(async () => {
    await store.close()
    await pool.end()
    await admin.end()
    await proxy.stop()
  })
  beforeEach(() => pool.query('TRUNCATE notes'))

  /** A transaction with that many borrowers whose statements mix. */
  async function mixed<T>(borrowers: number, work: (loans: readonly Loan<Tx>[], tx: Tx) => Promise<T>): Promise<T> {
    return await store.transaction(async (tx) => {
      await store.inbox.claim(tx, [{ handler: 'tag-note', key: randomUUID(), fingerprint: undefined }])
      const lend = (_: unknown, index: number) =>
        store.lend(tx, { borrower: `tag-note-${index}`, interleaved: true, onLateCall: () => {} })
      const loans = Array.from({ length: borrowers }, lend)
      try {
        return await work(loans, tx)
      } finally {
        for (const loan of loans) loan.end()
      }
    })
  }

  const insert = 'INSERT INTO notes VALUES ($1, $2)'

  test('what many send at once has one Sync', async () => {
    const count = await mixed(20, async (loans) => {
      frames = []
      await Promise.all(loans.map(({ tx }, id) => tx.query(insert, [id, 'text'])))
      return frames.filter((type) => type === 'S').length
    })
    expect(count).toBe(1)
    expect((await pool.query('SELECT count(*)::int AS n FROM notes')).rows).toEqual([{ n: 20 }])
  })

  const queries: readonly [string, readonly unknown[]][] = [
    [
      'SELECT $1::int AS n, $2::text AS t, $3::timestamptz AS at, NULL AS nothing',
      [1, 'ä\u{1f600}', new Date(86_400_000)],
    ],
    [
      'SELECT g AS n, array[g, g] AS many, jsonb_build_object($1::text, g) AS object FROM generate_series(1, 3) AS g',
      ['a'],
    ],
    ['INSERT INTO notes VALUES ($1, $2) RETURNING *', [7, null]],
    ['UPDATE notes SET text = $1 WHERE false', [undefined]],
    ['SELECT $1::boolean AS yes, $2::bigint AS long, $3::numeric AS exact', [true, 9_007_199_254_740_993n, '1.10']],
    ['', [] as unknown[]],
    ['SELECT $1::bytea AS bytes', [Buffer.from([0, 255])]],
    ['SELECT $1::jsonb AS object, $2::int[] AS numbers', [{ a: 1 }, [1, 2]]],
    ['SELECT $1::text AS long', ['x'.repeat(100_000)]],
    ['SELECT 1 AS simple', [] as unknown[]],
  ]

  test('every answer is the one that pg gives by itself', async () => {
    const client = await pool.connect()
    await client.query('BEGIN')
    const alone: pg.QueryResult[] = []
    for (const [text, values] of queries) alone.push(await client.query(text, [...values]))
    await client.query('ROLLBACK')
    client.release()
    const together = await mixed(queries.length, (loans) =>
      Promise.all(loans.map(({ tx }, index) => tx.query(...(queries[index] as [string, unknown[]])))),
    )
    const plain = (results: readonly pg.QueryResult[]) =>
      results.map(({ rows, rowCount, command, fields }) => ({
        rows,
        rowCount,
        command,
        fields: fields.map(({ name, dataTypeID }) => [name, dataTypeID]),
      }))
    expect(plain(together)).toEqual(plain(alone))
  })

  test('what one borrower sends arrives in its order, whatever it is', async () => {
    await mixed(2, async ([first, second]) => {
      const { tx } = first as Loan<Tx>
      const values = [1, 'one']
      const sent = [tx.query(insert, values)]
      values[1] = 'changed'
      sent.push(second?.tx.query('SELECT 1') as Promise<pg.QueryResult>)
      sent.push(tx.query('UPDATE notes SET text = text || $1', [Buffer.from(' two')]))
      sent.push(tx.query("UPDATE notes SET text = text || ' three'"))
      sent.push(tx.query('UPDATE notes SET text = text || $1', [' and']))
      sent.push(tx.query({ text: "UPDATE notes SET text = text || ' a half'", rowMode: 'array' }))
      sent.push(tx.query('UPDATE notes SET text = text || $1', [' four']))
      await Promise.all(sent)
    })
    expect((await pool.query('SELECT text FROM notes')).rows).toEqual([{ text: 'one two three and a half four' }])
  })

  test('of a group only the statement that fails has failed by itself, and names stay what they are', async () => {
    const named = (name: string, id: number) => ({ name, text: `${insert} /* ${name} */`, values: [id, 'text'] })
    const codes: unknown[] = []
    const failed = mixed(4, async (loans) => {
      const configs = [named('before', 1), named('failing', 1), named('behind', 2), named('behind', 3)]
      const sent = await Promise.allSettled(loans.map(({ tx }, index) => tx.query(configs[index] as pg.QueryConfig)))
      for (const each of sent) codes.push(each.status === 'fulfilled' ? undefined : each.reason.code)
      throw new Error('on purpose')
    })
    await expect(failed).rejects.toThrow('on purpose')
    expect(codes).toEqual([undefined, '23505', '25P02', '25P02'])
    // The same connection: what it says to know, the server knows, too.
    await mixed(3, (loans) =>
      Promise.all(['before', 'failing', 'behind'].map((name, id) => loans[id]?.tx.query(named(name, id)))),
    )
    for (const [index, name] of ['before', 'failing', 'behind'].entries()) await pool.query(named(name, 10 + index))
    expect((await pool.query('SELECT count(*)::int AS n FROM notes')).rows).toEqual([{ n: 6 }])
  })

  test('values that pg takes for none are none, and what it refuses is refused', async () => {
    const answers = await mixed(2, async ([first, second]) => {
      const none = { name: 'none', text: 'SELECT 1 AS one', values: null }
      const wrong = { text: 'SELECT $1', values: 'abc' }
      const queries = [none, wrong] as unknown as pg.QueryConfig[]
      return await Promise.allSettled(queries.map((query, index) => [first, second][index]?.tx.query(query)))
    }).catch((error) => error)
    expect(answers).toMatchObject([
      { value: { rows: [{ one: 1 }] } },
      { reason: { message: 'Query values must be an array' } },
    ])
  })

  test('a connection that is lost fails all of them', async () => {
    const lost = mixed(3, async (loans, tx) => {
      const sent = loans.map(({ tx }) => tx.query('SELECT pg_sleep($1)', [60]))
      const ended = Promise.allSettled(sent)
      const { processID } = tx as unknown as { readonly processID: number }
      await admin.query('SELECT pg_terminate_backend($1)', [processID])
      const statuses = (await ended).map(({ status }) => status)
      expect(statuses).toEqual(['rejected', 'rejected', 'rejected'])
      throw new Error('lost')
    })
    await expect(lost).rejects.toThrow()
  })

  test('a session that is ended before the server is ready fails the last of them', async () => {
    const lost = mixed(2, async (loans, tx) => {
      const { processID } = tx as unknown as { readonly processID: number }
      insteadOfReady = () => {
        insteadOfReady = undefined
        admin.query('SELECT pg_terminate_backend($1)', [processID])
      }
      const sent = await Promise.allSettled(loans.map(({ tx }, id) => tx.query(insert, [id, 'text'])))
      expect(sent).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected', reason: { code: '57P01' } }])
      throw new Error('lost')
    })
    await expect(lost).rejects.toThrow('lost')
  })

  test('a connection that is lost in the turn in which they are sent fails all of them', async () => {
    const lost = mixed(3, async (loans, tx) => {
      const { connection } = tx as unknown as { readonly connection: { readonly stream: { destroy(): void } } }
      connection.stream.destroy()
      const sent = await Promise.allSettled(loans.map(({ tx }, id) => tx.query(insert, [id, 'text'])))
      expect(sent.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
      throw new Error('lost')
    })
    await expect(lost).rejects.toThrow()
  })
})
