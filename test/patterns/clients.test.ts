import pg from 'pg'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  applyEntry,
  insertManyOnce,
  insertOnce,
  recordEntry,
  reserve,
  settleEntries,
  softDelete,
  transfer,
  transition,
  updateVersioned,
  upsert,
  upsertLatest,
} from '../../src/patterns/index.ts'
import { type Place, places } from './places.ts'

/** Clients that people set up in their own way, for all that they do. */
const settings = {
  'pg with results in binary': ['pg', { binary: true }],
  'pg that reads decimals and large numbers as numbers': ['pg', { types: { getTypeParser: asNumbers } }],
  'postgres.js with names in camel case': ['postgres.js', { transform: postgres.camel }],
  'postgres.js with names in Pascal case': ['postgres.js', { transform: postgres.pascal }],
  'mysql2 with large numbers as text': ['mysql2', { supportBigNumbers: true, bigNumberStrings: true }],
  'mysql2 with decimals as numbers': ['mysql2', { decimalNumbers: true }],
  'mysql2 with rows as arrays': ['mysql2', { rowsAsArray: true }],
  'mysql2 with rows by table': ['mysql2', { nestTables: true }],
} as const

function asNumbers(type: number, format?: never): (text: string) => unknown {
  return type === 1700 || type === 20 ? Number : pg.types.getTypeParser(type, format)
}

for (const [name, [client, options]] of Object.entries(settings)) {
  const { isHere, open } = places[client] as (typeof places)[string]
  describe.skipIf(!isHere)(`patterns on ${name}`, () => {
    let place: Place
    const within = <T>(work: (tx: unknown) => Promise<T>): Promise<T> => place.store.transaction(work)
    const at = (table: string) => place.table(table)
    beforeAll(async () => {
      place = await open(options as never)
    })
    afterAll(() => place.close())

    test('every function answers as it does elsewhere', async () => {
      const books = { ledger: at('entries'), balances: at('accounts') }
      const order = { id: 1, state: 'new', version: 1, deleted_at: null, total: 0 }
      const profile = (changed_at: number) => ({ id: 1, name: 'a', changed_at })
      const entry = (id: string, amount: number | string) => ({ transfer: id, account: 1, amount })
      const pay = (tx: unknown) => transition<string>(tx, at('orders'), { id: 1 }, { from: 'new', to: 'paid' })
      const visits = [1, 2].map((visitor) => ({ day: 'monday', visitor, pages: 1 }))
      const latest = { unique: ['id'], by: 'changed_at' }
      const move = { transfer: 't', from: 1, to: 2, amount: 3 }
      const calls: readonly [string, (tx: unknown) => Promise<unknown>, string, string][] = [
        ['insertOnce', (tx) => insertOnce(tx, at('orders'), order, { unique: ['id'] }), 'inserted', 'exists'],
        ['transition', pay, 'moved', 'already'],
        [
          'a transition that is not allowed',
          (tx) => transition<string>(tx, at('orders'), { id: 1 }, { from: 'sent', to: 'new' }),
          'refused from paid',
          'refused from paid',
        ],
        [
          'updateVersioned',
          (tx) => updateVersioned(tx, at('orders'), { id: 1 }, { version: 1, set: { total: 1 } }),
          'updated',
          'stale',
        ],
        [
          'softDelete',
          (tx) => softDelete(tx, at('orders'), { id: 1 }, { value: 'today', column: 'deleted_at' }),
          'deleted',
          'already',
        ],
        [
          'insertManyOnce',
          (tx) => insertManyOnce(tx, at('visits'), visits, { unique: ['day', 'visitor'] }),
          '2 inserted',
          '0 inserted',
        ],
        ['upsert', (tx) => upsert(tx, at('profiles'), profile(1), { unique: ['id'] }), 'inserted', 'updated'],
        ['upsertLatest', (tx) => upsertLatest(tx, at('profiles'), profile(2), latest), 'updated', 'older'],
        ['applyEntry', (tx) => applyEntry(tx, books, entry('a', 5)), 'applied', 'duplicate'],
        ['transfer', (tx) => transfer(tx, books, move), 'applied', 'duplicate'],
        ['an entry that is too large', (tx) => applyEntry(tx, books, entry('b', -99)), 'refused', 'refused'],
        ['reserve', (tx) => reserve(tx, at('stock'), { item: 'pen' }, { amount: 1 }), 'moved', 'short'],
        [
          'recordEntry',
          (tx) => recordEntry(tx, books, entry('c', '900719925474099312345678.1')),
          'recorded',
          'duplicate',
        ],
        ['recordEntry of a second one', (tx) => recordEntry(tx, books, entry('d', '0.2')), 'recorded', 'duplicate'],
        ['settleEntries', (tx) => settleEntries(tx, books), '2', '0'],
      ]
      await within(async (tx) => {
        for (const account of [1, 2])
          await insertOnce(
            tx,
            at('accounts'),
            { account, balance: '900719925474099312345678' },
            { unique: ['account'] },
          )
        await transfer(tx, books, { transfer: 'far', from: 1, to: 2, amount: '900719925474099312345678' })
        await insertOnce(tx, at('stock'), { item: 'pen', free: 1, held: 0 }, { unique: ['item'] })
      })
      const answers: string[][] = []
      for (const [what, call] of calls) answers.push([what, said(await within(call)), said(await within(call))])
      expect(answers).toEqual(calls.map(([what, , first, again]) => [what, first, again]))
      // Compared by the database: 5 - 3 and what was settled, and not a digit more.
      const exact = await within((tx) =>
        applyEntry(tx, books, { ...entry('e', '-900719925474099312345680.3'), atLeast: '0' }),
      )
      expect(exact.kind).toBe('applied')
      const all = { transfer: 'back', from: 2, to: 1, amount: '1801439850948198624691359' }
      expect((await within((tx) => transfer(tx, books, all))).kind).toBe('applied')
    })
  })
}

function said(answer: unknown): string {
  if (typeof answer === 'number') return String(answer)
  const { kind, inserted, current } = answer as { kind?: string; inserted?: readonly unknown[]; current?: unknown }
  if (inserted !== undefined) return `${inserted.length} inserted`
  return current === undefined ? String(kind) : `${kind} from ${current}`
}
