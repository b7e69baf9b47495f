import { expect, test } from 'vitest'
import { type Comparing, differencesBetween, unsteadyColumns } from './compare.ts'
import type { Row, TableFact } from './tables.ts'

const orders: TableFact = { primaryKey: ['n'], counted: new Set(['n']), refersTo: new Map() }
const lines: TableFact = { primaryKey: [], counted: new Set(), refersTo: new Map([['order_n', 'orders']]) }
const accounts: TableFact = { primaryKey: ['id'], counted: new Set(), refersTo: new Map() }

const comparing: Comparing = {
  facts: new Map([
    ['orders', orders],
    ['lines', lines],
    ['accounts', accounts],
  ]),
  ignored: new Set(['accounts.seen_at']),
  initial: new Map([['orders', [{ n: 1, what: 'old' }]]]),
}

function compare(table: string, expected: readonly Row[], found: readonly Row[]) {
  return differencesBetween(new Map([[table, expected]]), new Map([[table, found]]), comparing)
}

test('the order of rows is no difference', () => {
  const rows = [{ id: 'a' }, { id: 'b' }]
  expect(compare('accounts', rows, rows.toReversed())).toEqual([])
})

test('a changed row is shown as one, by its key', () => {
  const [difference, ...more] = compare(
    'accounts',
    [{ id: 'a', balance: 1, seen_at: 'monday' }],
    [{ id: 'a', balance: 2, seen_at: 'tuesday' }],
  )
  expect(more).toEqual([])
  expect(difference).toEqual({
    table: 'accounts',
    expected: { id: 'a', balance: 1 },
    found: { id: 'a', balance: 2 },
    columns: ['balance'],
  })
})

test('a row that is there twice is too many, once', () => {
  const row = { id: 'a', balance: 1 }
  expect(compare('accounts', [row], [row, row])).toEqual([{ table: 'accounts', found: row, columns: [] }])
})

test('numbers that the database counts may differ in new rows, and in what refers to them', () => {
  const expected = [
    { n: 1, what: 'old' },
    { n: 2, what: 'new' },
  ]
  expect(compare('orders', expected, [expected[0] as Row, { n: 7, what: 'new' }])).toEqual([])
  expect(compare('lines', [{ order_n: 2 }], [{ order_n: 7 }])).toEqual([])
})

test('rows that were there before keep their numbers', () => {
  expect(compare('lines', [{ order_n: 1 }], [{ order_n: 7 }])).toHaveLength(1)
  expect(compare('orders', [{ n: 1, what: 'old' }], [{ n: 7, what: 'old' }])).not.toEqual([])
})

test('columns that differ between two runs are reported even where whole rows do', () => {
  const one = new Map([['accounts', [{ id: 'x1', at: 1, kind: 'a' }]]])
  const other = new Map([['accounts', [{ id: 'x2', at: 2, kind: 'a' }]]])
  expect(unsteadyColumns(one, other, comparing)).toEqual(['accounts.id', 'accounts.at'])
})
