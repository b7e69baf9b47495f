import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres, { type ReservedSql, type Sql } from 'postgres'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Loan } from '../../src/contracts/index.ts'
import { isJustonceError } from '../../src/errors/index.ts'
import { justonce } from '../../src/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import type { StoreCaseContext } from '../../src/testing/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newSql, openJsContext } from './js-context.ts'

const server = await requireServer('postgres')
const request = { handler: 'tag-note', key: 'm1', fingerprint: undefined }

describe.skipIf(!server.available)('what a handler is lent of postgres.js', () => {
  let url: string
  let context: StoreCaseContext<ReservedSql>
  let late: Error[]
  beforeAll(async () => {
    url = await createDatabase(server.url)
    context = await openJsContext({ url })
  })
  afterAll(() => context.close())
  beforeEach(() => {
    late = []
  })

  async function lent<T>(work: (loan: Loan<ReservedSql>) => Promise<T>): Promise<T> {
    const { store } = context
    const undone = new Error('undone on purpose')
    let value: T | undefined
    const transaction = store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request])
      value = await work(store.lend(tx, { borrower: 'tag-note', onLateCall: (error) => late.push(error) }))
      throw undone
    })
    await expect(transaction).rejects.toBe(undone)
    return value as T
  }

  test('queries, fragments and helpers work as ever', async () => {
    await lent(async ({ tx, settled }) => {
      await tx`CREATE TEMP TABLE notes (id int, title text, tags text[], more jsonb) ON COMMIT DROP`
      await tx`INSERT INTO notes ${tx({ id: 1, title: 'a' }, 'id', 'title')}`
      await tx`INSERT INTO notes ${tx([
        { id: 2, title: 'b' },
        { id: 3, title: 'c' },
      ])}`
      await tx`UPDATE notes SET ${tx({ title: 'z' })}, tags = ${tx.array(['x', 'y'])}, more = ${tx.json({ deep: 1 })}
               WHERE id = ${3}`
      const onlyLate = tx`WHERE id > ${1}`
      const rows = await tx`SELECT id, title, tags, more FROM ${tx('notes')} ${onlyLate} ORDER BY id`
      expect([...rows]).toEqual([
        { id: 2, title: 'b', tags: null, more: null },
        { id: 3, title: 'z', tags: ['x', 'y'], more: { deep: 1 } },
      ])
      expect(await tx`SELECT id FROM notes WHERE id IN ${tx([1, 3])} ORDER BY id`.values()).toEqual([[1], [3]])
      expect([...(await tx.unsafe('SELECT $1::int AS n', [5]))]).toEqual([{ n: 5 }])
      expect(settled()).toBeUndefined()
    })
  })

  test('cursors, forEach, describe and files work and are counted until their end', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'justonce-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'six.sql'), 'SELECT 6 AS n')
    await lent(async ({ tx, settled }) => {
      const seen: number[] = []
      for await (const rows of tx<{ n: number }[]>`SELECT * FROM generate_series(1, 3) AS n`.cursor(1)) {
        seen.push(...rows.map(({ n }) => n))
        expect(settled()).toBeDefined()
      }
      expect(seen).toEqual([1, 2, 3])
      expect(settled()).toBeUndefined()
      await tx<{ n: number }[]>`SELECT 4 AS n`.forEach(({ n }) => void seen.push(n))
      expect(seen).toEqual([1, 2, 3, 4])
      expect((await tx`SELECT ${5}::int AS n`.describe()).columns).toHaveLength(1)
      expect([...(await tx.file(join(folder, 'six.sql')))]).toEqual([{ n: 6 }])
      expect(settled()).toBeUndefined()
    })
  })

  test('a COPY works and is counted until the server has finished it', async () => {
    await lent(async ({ tx, settled }) => {
      await tx`CREATE TEMP TABLE notes (id text) ON COMMIT DROP`
      const rows = await tx`COPY notes FROM STDIN`.writable()
      expect(settled()).toBeDefined()
      // Nobody waits for it but the loan.
      rows.end('a\nb\n')
      await settled()
      const read: string[] = []
      for await (const chunk of await tx`COPY notes TO STDOUT`.readable()) read.push(String(chunk))
      await settled()
      expect(read.join('')).toBe('a\nb\n')
      expect(settled()).toBeUndefined()
    })
  })

  test.each([
    ['FROM STDIN', 'throws', 'HANDLER_FAILED'],
    ['FROM STDIN', 'returns', 'HANDLER_TIMEOUT'],
    ['TO STDOUT', 'throws', 'HANDLER_FAILED'],
    ['TO STDOUT', 'returns', 'HANDLER_TIMEOUT'],
  ])('a handler that begins a COPY %s and %s fails, and nothing else', async (direction, how, reason) => {
    const sql = newSql({ url })
    onTestFinished(() => sql.end({ timeout: 1 }))
    const name = `${direction} ${how}`.replaceAll(' ', '_').toLowerCase()
    const store = postgresStore({ sql, prefix: `${name}_`, listen: false })
    await store.schema.install()
    await sql.unsafe(`CREATE TABLE ${name} AS SELECT repeat('x', 1000) AS id FROM generate_series(1, 1000)`)
    const transport = memoryTransport()
    const app = justonce({ store, transport })
    onTestFinished(() => app.stop())
    const options = { timeoutMs: how === 'returns' ? 2_000 : 30_000, retry: { backoff: () => 3_600_000 } }
    app.on('note.created', { name: 'tag-note', ...options }, async ({ id }, { tx }) => {
      await tx.unsafe(`INSERT INTO ${name} VALUES ($1)`, [id])
      if (id !== 'm2') return
      const copy = tx.unsafe(`COPY ${name} ${direction}`)
      await (direction === 'TO STDOUT' ? copy.readable() : copy.writable())
      if (how === 'throws') throw new Error('the other side of the stream failed')
    })
    await app.start()
    transport.send(['m1', 'm2', 'm3'].map((id) => ({ id, type: 'note.created', body: {} })))
    await transport.idle()
    expect([...(await sql`SELECT id FROM ${sql(name)} WHERE id LIKE 'm%' ORDER BY id`)]).toEqual([
      { id: 'm1' },
      { id: 'm3' },
    ])
    expect(await store.parking.list()).toMatchObject([{ key: 'm2', attempts: 1, reason }])
  })

  test('a query that was made before the end and is awaited after it is refused', async () => {
    await lent(async ({ tx, end }) => {
      const made = tx`SELECT 1`
      const unsafe = tx.unsafe('SELECT 1')
      const cursor = tx`SELECT 1`.cursor()[Symbol.asyncIterator]()
      end()
      for (const call of [made, unsafe, cursor.next(), tx`SELECT 2`]) {
        await expect(Promise.resolve(call)).rejects.toMatchObject({ code: 'TX_CLOSED' })
      }
      expect(() => tx.release()).toThrow('used tx after it had settled')
      await expect(tx.begin(() => {})).rejects.toMatchObject({ code: 'TX_CLOSED' })
      expect(late).toHaveLength(6)
    })
  })

  test('a fragment that never runs by itself is nobody’s call', async () => {
    await lent(async ({ tx, settled, end }) => {
      tx`COMMIT`
      expect(settled()).toBeUndefined()
      expect(end().broken).toBeUndefined()
    })
  })

  test.each(['begin', 'savepoint', 'end', 'reserve', 'listen'] as const)('%s() is refused', async (name) => {
    await lent(async ({ tx, end }) => {
      const call = (tx as unknown as Record<string, () => Promise<unknown>>)[name]
      await expect(call?.()).rejects.toMatchObject({ code: 'TX_CONTROL' })
      expect(isJustonceError(end().broken, 'TX_CONTROL')).toBe(true)
    })
  })

  test('release() is refused at once', async () => {
    await lent(async ({ tx }) => {
      expect(() => tx.release()).toThrow('called release()')
    })
  })

  test('notify() belongs to the transaction', async () => {
    const listener = newSql({ url })
    onTestFinished(() => listener.end())
    const heard: string[] = []
    const second = Promise.withResolvers<void>()
    await listener.listen('news', (payload) => {
      heard.push(payload)
      if (payload === 'committed') second.resolve()
    })
    await lent(({ tx }) => tx.notify('news', 'undone'))
    await context.store.transaction(async (tx) => {
      await context.store.lend(tx, { borrower: 'tag-note', onLateCall: () => {} }).tx.notify('news', 'committed')
    })
    await second.promise
    expect(heard).toEqual(['committed'])
  })

  test('Promise.all: what goes on after the first failure is refused', async () => {
    const { effects } = context
    const { promise: gone, resolve: isGone } = Promise.withResolvers<void>()
    const outcome = Promise.withResolvers<unknown>()
    await lent(async ({ tx, end }) => {
      const goesOn = async () => {
        await effects.write(tx, 'first')
        await gone
        await effects.write(tx, 'late').then(outcome.resolve, outcome.resolve)
      }
      await Promise.all([goesOn(), Promise.reject(new Error('at once'))]).catch(() => end())
      isGone()
      expect(await outcome.promise).toMatchObject({ code: 'TX_CLOSED' })
    })
    expect(await effects.count('late')).toBe(0)
  })

  test('a value that cannot be sent rejects its own query, and no query gets the answer to another one', async () => {
    const sql = newSql({ url, client: { max: 1 } })
    onTestFinished(() => sql.end({ timeout: 1 }))
    const store = postgresStore({ sql, prefix: 'unsent_', listen: false })
    await store.schema.install()
    const told = await store
      .transaction(async (tx) => {
        await store.inbox.claim(tx, [request])
        const [first, second] = ['first', 'second'].map((borrower) =>
          store.lend(tx, { borrower, interleaved: true, onLateCall: () => {} }),
        ) as [Loan<ReservedSql>, Loan<ReservedSql>]
        const say = (to: ReservedSql, text: unknown) => to`SELECT ${text as string}::text AS said`
        // From now on it is prepared, and sent while others are being answered.
        await say(first.tx, 'once')
        const answers = [say(first.tx, 'a'), say(second.tx, undefined), say(first.tx, 'b')]
        const outcomes = await Promise.allSettled(answers)
        throw Object.assign(new Error('undone on purpose'), { outcomes })
      })
      .catch((error: unknown) => (error as { outcomes: PromiseSettledResult<unknown>[] }).outcomes)
    expect(told).toMatchObject([
      { status: 'rejected', reason: { code: 'CONNECTION_DESTROYED' } },
      { status: 'rejected', reason: { code: 'UNDEFINED_VALUE' } },
      { status: 'rejected', reason: { code: 'CONNECTION_DESTROYED' } },
    ])
    expect([...(await sql`SELECT 1 AS n`)]).toEqual([{ n: 1 }])
  })

  test('without fetch_types every connection of the pool can be in a transaction', async () => {
    const max = 4
    const sql = newSql({ url, client: { max, fetch_types: false } })
    onTestFinished(() => sql.end({ timeout: 1 }))
    const store = postgresStore({ sql, prefix: 'untyped_', listen: false })
    await store.schema.install()
    // Whatever it asks once it has asked now, on one connection; the others are opened for transactions.
    await store.transaction(async () => {})
    const all = Promise.withResolvers<void>()
    let open = 0
    const transaction = () =>
      store.transaction(async (tx) => {
        await tx`SELECT 1`
        if (++open === max) all.resolve()
        await all.promise
      })
    await Promise.all(Array.from({ length: max }, transaction))
    expect(open).toBe(max)
  })

  test('a connection that is lost and made anew for somebody else takes nothing more of the transaction', async () => {
    // With one connection postgres.js has to connect the same one again.
    const sql = postgres(url, { max: 1, onnotice: () => {} }) as Sql
    onTestFinished(() => sql.end({ timeout: 1 }))
    const store = postgresStore({ sql, prefix: 'alone_', listen: false })
    await store.schema.install()
    await sql`CREATE TABLE alone_effects (name text)`
    const transaction = store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request])
      const loan = store.lend(tx, { borrower: 'tag-note', onLateCall: () => {} })
      const [row] = await loan.tx<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
      const killer = newSql({ url })
      await killer`SELECT pg_terminate_backend(${row?.pid ?? 0}, 10000)`
      await killer.end()
      // This is on the connection that the transaction had.
      expect([...(await sql`SELECT 1 AS n`)]).toEqual([{ n: 1 }])
      for (const each of [loan.tx, tx]) {
        const error = await each`INSERT INTO alone_effects VALUES ('stray')`.then(() => undefined, String)
        expect(error).toMatch(/CONNECTION_CLOSED/)
      }
    })
    await expect(transaction).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' })
    expect([...(await sql`SELECT * FROM alone_effects`)]).toEqual([])
    expect(await recordOf(store, request)).toBeUndefined()
  })
})
