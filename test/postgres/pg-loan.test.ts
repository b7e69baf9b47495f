import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Loan } from '../../src/contracts/index.ts'
import { isJustonceError } from '../../src/errors/index.ts'
import type { StoreCaseContext } from '../../src/testing/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { openPgContext } from './pg-context.ts'

const postgres = await requireServer('postgres')
const request = { handler: 'tag-note', key: 'm1', fingerprint: undefined }

describe.skipIf(!postgres.available)('what a handler is lent of pg', () => {
  let context: StoreCaseContext<pg.PoolClient>
  let late: Error[]
  beforeAll(async () => {
    context = await openPgContext({ url: await createDatabase(postgres.url) })
  })
  afterAll(() => context.close())
  beforeEach(() => {
    late = []
  })

  /** The work of a handler in a transaction that is undone afterwards. */
  async function lent<T>(work: (loan: Loan<pg.PoolClient>, tx: pg.PoolClient) => Promise<T>): Promise<T> {
    const { store } = context
    const undone = new Error('undone on purpose')
    let value: T | undefined
    const transaction = store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request])
      value = await work(store.lend(tx, { borrower: 'tag-note', onLateCall: (error) => late.push(error) }), tx)
      throw undone
    })
    await expect(transaction).rejects.toBe(undone)
    return value as T
  }

  test('every form of query works: text, values, config, row mode, callbacks and query objects', async () => {
    await lent(async ({ tx, settled }) => {
      expect((await tx.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }])
      expect((await tx.query('SELECT $1::int AS n', [2])).rows).toEqual([{ n: 2 }])
      expect((await tx.query({ text: 'SELECT $1::int AS n', values: [3] })).rows).toEqual([{ n: 3 }])
      expect((await tx.query({ name: 'four', text: 'SELECT $1::int AS n' }, [4])).rows).toEqual([{ n: 4 }])
      expect((await tx.query({ text: 'SELECT 5', rowMode: 'array' })).rows).toEqual([[5]])
      expect(await called((done) => tx.query('SELECT 6 AS n', done))).toEqual([{ n: 6 }])
      expect(await called((done) => tx.query('SELECT $1::int AS n', [7], done))).toEqual([{ n: 7 }])
      expect(await called((done) => tx.query({ text: 'SELECT 8 AS n' }, done))).toEqual([{ n: 8 }])
      const config = (done: Done) => ({ text: 'SELECT $1::int AS n', values: [9], callback: done })
      expect(await called((done) => void tx.query(config(done)))).toEqual([{ n: 9 }])
      const rows: unknown[] = []
      const query = tx.query(new pg.Query('SELECT 10 AS n'))
      query.on('row', (row) => rows.push(row))
      await settled()
      expect(rows).toEqual([{ n: 10 }])
      expect(settled()).toBeUndefined()
    })
  })

  test('a configuration may be changed once it was sent', async () => {
    await lent(async ({ tx }) => {
      const config = { name: 'eleven', text: 'SELECT $1::int AS n', values: [11] }
      const sent = tx.query(config)
      Object.assign(config, { name: 'twelve', text: 'SELECT 12 AS n', values: [] })
      expect((await sent).rows).toEqual([{ n: 11 }])
    })
  })

  test('it looks like the client it stands for', async () => {
    await lent(async ({ tx }, native) => {
      expect(tx).toBeInstanceOf(pg.Client)
      expect(tx.database).toBe(native.database)
      expect(tx.escapeLiteral("it's")).toBe("'it''s'")
      const notices: unknown[] = []
      const listener = (notice: { message?: string }) => notices.push(notice.message)
      expect(tx.on('notice', listener)).toBe(tx)
      await tx.query(`DO $$ BEGIN RAISE NOTICE 'hear'; END $$`)
      tx.removeListener('notice', listener)
      expect(notices).toEqual(['hear'])
    })
  })

  test.each(['release', 'end', 'connect', 'cancel'] as const)('%s() is refused and breaks the loan', async (name) => {
    await lent(async ({ tx, end }) => {
      expect(() => (tx as unknown as Record<string, () => void>)[name]?.()).toThrow(`called ${name}()`)
      expect(isJustonceError(end().broken, 'TX_CONTROL')).toBe(true)
    })
  })

  test('the way around query() is not there', async () => {
    await lent(async ({ tx }) => {
      expect(tx.connection).toBeUndefined()
    })
  })

  test('a late call fails in the form in which it was made, and each is reported', async () => {
    await lent(async ({ tx, end }) => {
      end()
      const code = { code: 'TX_CLOSED' }
      await expect(tx.query('SELECT 1')).rejects.toMatchObject(code)
      await expect(called((done) => tx.query('SELECT 1', done))).rejects.toMatchObject(code)
      const query = new pg.Query('SELECT 1')
      const failed = new Promise((resolve) => query.on('error', resolve))
      tx.query(query)
      expect(await failed).toMatchObject(code)
      expect(() => tx.release()).toThrow('used tx after it had settled')
      expect(late).toHaveLength(4)
    })
  })

  test('Promise.all: what goes on after the first failure does not reach the next message', async () => {
    const { store, effects } = context
    const firstHasFailed = Promise.withResolvers<void>()
    const lateWrite = Promise.withResolvers<unknown>()
    await store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request])
      const run = async (name: string, handler: (tx: pg.PoolClient) => Promise<unknown>) => {
        await store.parts?.next(tx)
        const loan = store.lend(tx, { borrower: name, onLateCall: (error) => late.push(error) })
        try {
          await handler(loan.tx)
        } catch {
          await store.parts?.undo(tx)
        } finally {
          loan.end()
        }
      }
      await run('first', (lentTx) => {
        const goesOn = async () => {
          await effects.write(lentTx, 'first')
          await firstHasFailed.promise
          await effects.write(lentTx, 'first, late').then(lateWrite.resolve, lateWrite.resolve)
        }
        return Promise.all([goesOn(), Promise.reject(new Error('at once'))])
      })
      await run('second', async (lentTx) => {
        firstHasFailed.resolve()
        expect(await lateWrite.promise).toMatchObject({ code: 'TX_CLOSED' })
        await effects.write(lentTx, 'second')
      })
    })
    expect(await Promise.all(['first', 'first, late', 'second'].map((name) => effects.count(name)))).toEqual([0, 0, 1])
    expect(late).toHaveLength(1)
  })

  test('a commit that slips past the words is undone by the seal, and the loan knows', async () => {
    const { store, effects } = context
    const transaction = store.transaction(async (tx) => {
      await store.inbox.claim(tx, [{ ...request, key: 'sealed' }])
      const loan = store.lend(tx, { borrower: 'tag-note', onLateCall: () => {} })
      await effects.write(loan.tx, 'sealed')
      const failed = new Promise<Error>((resolve) => {
        loan.tx.query(withoutText(new pg.Query('COMMIT', (error) => resolve(error as Error))))
      })
      expect((await failed).message).toContain('only justonce may commit this transaction')
      await expect(effects.write(loan.tx, 'sealed')).rejects.toMatchObject({ code: 'TX_ENDED' })
      expect(isJustonceError(loan.end().broken, 'TX_ENDED')).toBe(true)
    })
    await expect(transaction).rejects.toMatchObject({ code: 'TX_ENDED' })
    expect(await effects.count('sealed')).toBe(0)
    expect(await recordOf(store, { ...request, key: 'sealed' })).toBeUndefined()
  })

  test('a call that nobody awaits and that fails is reported by settled(), not by the process', async () => {
    await lent(async ({ tx, settled, end }) => {
      void tx.query('SELECT 1 / 0')
      await expect(settled()).rejects.toMatchObject({ code: '22012' })
      expect(end().trouble).toBe('none')
    })
  })
})

/** A query object that does not tell what it will say. */
function withoutText(query: pg.Query): pg.Submittable {
  return new Proxy(query, {
    get(target, name) {
      const member: unknown = name === 'text' ? undefined : Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

type Done = (error: Error, result: pg.QueryResult) => void

function called(call: (done: Done) => void): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    call((error, result) => (error ? reject(error) : resolve(result.rows)))
  })
}
