import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  applyEntry,
  deleteOnce,
  insertManyOnce,
  insertOnce,
  recordEntry,
  reserve,
  softDelete,
  transfer,
  transition,
  updateVersioned,
  upsert,
  upsertLatest,
} from '../../src/patterns/index.ts'
import { type Place, places } from './places.ts'

const pg = places.pg as (typeof places)[string]

describe.skipIf(!pg.isHere)('how many statements a pattern sends to Postgres', () => {
  let place: Place
  beforeAll(async () => {
    place = await pg.open()
  })
  afterAll(() => place.close())

  interface Client {
    query(text: string, values: unknown[]): Promise<unknown>
  }

  test('one each, for what is new and for a duplicate', async () => {
    const at = (table: string) => place.table(table)
    const books = { ledger: at('entries'), balances: at('accounts') }
    const order = { id: 1, state: 'new', version: 1, deleted_at: null, total: 0 }
    const profile = (changed_at: number) => ({ id: 1, name: 'a', changed_at })
    const latest = { unique: ['id'], by: 'changed_at' }
    const calls: Record<string, (tx: unknown) => Promise<unknown>> = {
      insertOnce: (tx) => insertOnce(tx, at('orders'), order, { unique: ['id'] }),
      transition: (tx) => transition(tx, at('orders'), { id: 1 }, { from: 'new', to: 'paid' }),
      updateVersioned: (tx) => updateVersioned(tx, at('orders'), { id: 1 }, { version: 1, set: { total: 1 } }),
      softDelete: (tx) => softDelete(tx, at('orders'), { id: 1 }, { value: 'today' }),
      insertManyOnce: (tx) => insertManyOnce(tx, at('visits'), visits, { unique: ['day', 'visitor'] }),
      upsert: (tx) => upsert(tx, at('profiles'), profile(1), { unique: ['id'] }),
      upsertLatest: (tx) => upsertLatest(tx, at('profiles'), profile(2), { ...latest, ties: 'replace' }),
      applyEntry: (tx) => applyEntry(tx, books, { transfer: 'a', account: 1, amount: 0 }),
      reserve: (tx) => reserve(tx, at('stock'), { item: 'pen' }, { amount: 1 }),
      'an older upsertLatest': (tx) => upsertLatest(tx, at('profiles'), profile(1), latest),
      'a refused entry': (tx) => applyEntry(tx, books, { transfer: 'b', account: 1, amount: -99 }),
      'an entry of nobody': (tx) => applyEntry(tx, books, { transfer: 'b', account: 9, amount: 1 }),
      recordEntry: (tx) => recordEntry(tx, books, { transfer: 'c', account: 1, amount: 1 }),
      deleteOnce: (tx) => deleteOnce(tx, at('orders'), { id: 1 }),
    }
    const visits = [1, 2, 3].map((visitor) => ({ day: 'monday', visitor, pages: 1 }))
    const sent = await place.store.transaction(async (tx) => {
      for (const account of [1, 2])
        await insertOnce(tx, at('accounts'), { account, balance: 10 }, { unique: ['account'] })
      await insertOnce(tx, at('stock'), { item: 'pen', free: 1, held: 0 }, { unique: ['item'] })
      const counts: Record<string, number> = {}
      const counting = (name: string): Client => ({
        query(text, values) {
          counts[name] = (counts[name] ?? 0) + 1
          return (tx as Client).query(text, values)
        },
      })
      for (const [name, call] of Object.entries(calls)) {
        await call(counting(name))
        await call(counting(`${name} again`))
      }
      const move = { transfer: 't', from: 1, to: 2, amount: 3 }
      await transfer(counting('transfer'), books, move)
      await transfer(counting('transfer again'), books, move)
      return counts
    })
    const one = Object.keys(calls).flatMap((name) => [
      [name, 1],
      [`${name} again`, 1],
    ])
    expect(sent).toEqual({ ...Object.fromEntries(one), transfer: 3, 'transfer again': 3 })
  })
})
