import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  applyEntry,
  deleteOnce,
  insertManyOnce,
  insertOnce,
  not,
  oneOf,
  type Row,
  recordEntry,
  settleEntries,
  transfer,
  transition,
  updateIf,
  upsert,
  upsertLatest,
} from '../../src/patterns/index.ts'
import { Name, sql } from '../../src/patterns/sql/fragment.ts'
import { runnerOf } from '../../src/patterns/sql/runner.ts'
import { BetterSqlite3 } from '../sqlite/open-sqlite.ts'
import { rowsOf } from './domain.ts'
import { type Place, places } from './places.ts'

for (const [name, { isHere, open }] of Object.entries(places)) {
  describe.skipIf(!isHere)(`values that databases compare in their own way on ${name}`, () => {
    let place: Place
    const within = <T>(work: (tx: unknown) => Promise<T>): Promise<T> => place.store.transaction(work)
    const at = (table: string) => place.table(table)
    beforeAll(async () => {
      place = await open()
    })
    afterAll(() => place.close())

    test('a number is the text of its digits and no other, where keys are texts', async () => {
      await place.exec('CREATE TABLE {}coded (id varchar(20) PRIMARY KEY, other varchar(20), n int)')
      const all = ['007', '7.0', '7', 'A1', '0x7', '1'].map((id) => ({ id, other: id, n: 0 }))
      await within((tx) => insertManyOnce(tx, at('coded'), all, { unique: ['id'] }))
      const plus = (where: Row, wanted: Row = { n: 0 }) =>
        within((tx) => updateIf(tx, at('coded'), where, { if: wanted, set: { n: 1 } }))
      expect((await plus({ id: 7 })).kind).toBe('updated')
      expect((await plus({ other: 0 })).kind).toBe('missing')
      expect((await plus({ other: oneOf([7n, 70]) })).kind).toBe('unmet')
      expect((await plus({ id: '007' }, { other: not(7) })).kind).toBe('updated')
      if (place.dialect === 'mysql') expect((await plus({ other: true })).kind).toBe('updated')
      const changed = await within((tx) => rowsOf(tx, at('coded'), { n: 1 }))
      expect(changed.map(({ id }) => id).toSorted()).toEqual(
        place.dialect === 'mysql' ? ['007', '1', '7'] : ['007', '7'],
      )

      expect(await within((tx) => deleteOnce(tx, at('coded'), { id: 7 }))).toEqual({ kind: 'deleted' })
      const rows = [7, 8].map((id) => ({ id, other: 'new', n: 2 }))
      const { inserted } = await within((tx) => insertManyOnce(tx, at('coded'), rows, { unique: ['id'] }))
      expect(inserted).toHaveLength(2)
      const write = { id: 70, other: 'new', n: 3 }
      expect((await within((tx) => upsert(tx, at('coded'), write, { unique: ['id'] }))).kind).toBe('inserted')
      const left = await within((tx) => runnerOf(tx).rows(sql`SELECT ${1} AS one FROM ${tableOf('coded')}`))
      expect(left).toHaveLength(8)
    })

    const tableOf = (table: string) => {
      const given = at(table)
      return new Name(typeof given === 'string' ? [given] : given)
    }

    test('a state is reached when the database says so, however it pads or spells it', async () => {
      const state = {
        postgres: 'char(10)',
        mysql: 'varchar(10) COLLATE utf8mb4_general_ci',
        sqlite: 'text COLLATE NOCASE',
      }
      await place.exec(`CREATE TABLE {}padded (id int PRIMARY KEY, state ${state[place.dialect]}, step decimal(5, 1))`)
      const written = place.dialect === 'postgres' ? 'paid' : 'PAID'
      await within((tx) => insertOnce(tx, at('padded'), { id: 1, state: written, step: '2.0' }, { unique: ['id'] }))
      const pay = (tx: unknown) => transition<string>(tx, at('padded'), { id: 1 }, { from: 'new', to: 'paid' })
      expect((await within(pay)).kind).toBe('already')
      const go = (tx: unknown) => transition<number>(tx, at('padded'), { id: 1 }, { column: 'step', from: 1, to: 2 })
      expect((await within(go)).kind).toBe('already')
      const ship = (tx: unknown) => transition<string>(tx, at('padded'), { id: 1 }, { from: 'new', to: 'sent' })
      expect((await within(ship)).kind).toBe('refused')
    })
  })
}

test.each([
  ['node:sqlite', () => new DatabaseSync(':memory:')],
  ['better-sqlite3', () => new BetterSqlite3(':memory:')],
])('duplicates are found in an attached database of %s', async (_, open) => {
  const db = open()
  db.exec(`ATTACH ':memory:' AS shop; CREATE TABLE shop.orders (id int PRIMARY KEY, state text, n int);
    CREATE TABLE shop.entries (transfer text, account int, amount int, settled int DEFAULT 1, PRIMARY KEY (transfer, account));
    CREATE TABLE shop.accounts (account int PRIMARY KEY, balance int)`)
  const orders = ['shop', 'orders'] as const
  const row = { id: 1, state: 'new', n: 5 }
  const unique = ['id']
  expect((await insertOnce(db, orders, row, { unique })).kind).toBe('inserted')
  expect(await insertOnce(db, orders, row, { unique })).toEqual({ kind: 'exists', row })
  expect((await insertManyOnce(db, orders, [row, { ...row, id: 2 }], { unique })).inserted).toHaveLength(1)
  expect(await upsertLatest(db, orders, row, { unique, by: 'n' })).toEqual({ kind: 'older', row })
  expect((await transition<string>(db, orders, { id: 1 }, { from: 'paid', to: 'sent' })).kind).toBe('refused')
  const books = { ledger: ['shop', 'entries'], balances: ['shop', 'accounts'] } as const
  for (const account of [1, 2]) await insertOnce(db, books.balances, { account, balance: 10 }, { unique: ['account'] })
  const move = { transfer: 't', from: 1, to: 2, amount: 3 }
  const entry = { transfer: 'e', account: 1, amount: -3 }
  for (const kind of ['applied', 'duplicate']) {
    expect((await transfer(db, books, move)).kind).toBe(kind)
    expect((await applyEntry(db, books, entry)).kind).toBe(kind)
  }
  for (const kind of ['recorded', 'duplicate'])
    expect((await recordEntry(db, books, { ...entry, transfer: 'r' })).kind).toBe(kind)
  expect(await settleEntries(db, books)).toBe(1)
  db.close()
})

test.each(['pg', 'node:sqlite'])('more entries than fit into one statement are settled on %s', async (name) => {
  const { isHere, open } = places[name] as (typeof places)[string]
  if (!isHere) return
  const place = await open()
  await place.exec(`CREATE TABLE {}many (transfer int, account int, amount int, settled boolean DEFAULT true, PRIMARY KEY (transfer, account));
    CREATE TABLE {}sums (account int PRIMARY KEY, balance int);
    INSERT INTO {}sums VALUES (1, 0);
    INSERT INTO {}many WITH RECURSIVE g(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g WHERE i < 70000) SELECT i, 1, 1, false FROM g`)
  const books = { ledger: place.table('many'), balances: place.table('sums') }
  const settle = (limit: number) => place.store.transaction((tx) => settleEntries(tx, books, { limit }))
  let settled = 0
  for (let some = await settle(70_000); some > 0; some = await settle(70_000)) settled += some
  expect(settled).toBe(70_000)
  const [sum] = await place.store.transaction((tx) => rowsOf(tx, place.table('sums'), { account: 1 }))
  expect(sum?.balance).toBe(70_000)
  for (const limit of [-1, 0, Number.NaN]) await expect(settle(limit)).rejects.toMatchObject({ code: 'OPTION_INVALID' })
  await place.close()
})

test.skipIf(!places.pg?.isHere)('what pg reads as an object of its own can be written again', async () => {
  const place = (await places.pg?.open()) as Place
  await place.exec('CREATE TABLE {}breaks (id int PRIMARY KEY, lasts interval)')
  await place.exec("INSERT INTO {}breaks VALUES (1, '1 hour 3 seconds')")
  const table = place.table('breaks')
  const put = (row: Row) => place.store.transaction((tx) => insertOnce(tx, table, row, { unique: ['id'] }))
  const first = await put({ id: 1 })
  const { lasts } = 'row' in first ? first.row : {}
  expect((await put({ id: 2, lasts })).kind).toBe('inserted')
  expect(await put({ id: 2 })).toMatchObject({ row: { lasts } })
  await place.close()
})
