import { isDeepStrictEqual } from 'node:util'
import { checkNumber } from '../errors/index.ts'
import { insertOrFind, storedDifferently } from './insert-once.ts'
import {
  type Books,
  checkSame,
  columnsOf,
  type Entry,
  isSameAmount,
  rowOf,
  severalBalances,
  uniqueOf,
} from './ledger.ts'
import { tableName, whereOf } from './sql/conditions.ts'
import { joined, Name, sql } from './sql/fragment.ts'
import { type Row, runnerOf } from './sql/runner.ts'

/** What `recordEntry()` answers. */
export type Recorded =
  | { readonly kind: 'recorded' }
  /** It was made before: this is the entry as it is. */
  | { readonly kind: 'duplicate'; readonly row: Row }

/**
 * Makes one entry for each (transfer, account), and leaves the balance to `settleEntries`: messages for one account do not wait
 * for each other. The ledger needs a column `settled` that is true by default, so that entries of `applyEntry` are not added again.
 * An entry with another amount under the same id is refused (`KEY_REUSED`).
 */
export async function recordEntry(tx: unknown, books: Books, entry: Omit<Entry, 'atLeast'>): Promise<Recorded> {
  const runner = runnerOf(tx)
  const row = { ...rowOf(books, entry), [columnsOf(books).settled]: false }
  const same = isSameAmount(runner.dialect, books, entry.amount)
  const outcome = await insertOrFind(runner, books.ledger, row, uniqueOf(books), same)
  if (outcome.kind === 'changed') return { kind: 'recorded' }
  checkSame(outcome.isSame, entry)
  return { kind: 'duplicate', row: outcome.row }
}

/** Each is a value of a statement, and SQLite takes 32,766 of them. */
const mostEntries = 10_000

/**
 * Adds entries that are not part of their balance yet, the sum of each account in one step. Several processes may do it at once:
 * each takes other entries, `limit` of them at most (default: 1,000; more than 10,000 are 10,000). Call it until it resolves to 0, and
 * again when there may be more. Entries of accounts without a balance stay as they are.
 */
export async function settleEntries(
  tx: unknown,
  books: Books,
  { limit = 1_000 }: { readonly limit?: number } = {},
): Promise<number> {
  checkNumber(limit, 'limit of settleEntries()', 1)
  const runner = runnerOf(tx)
  const names = columnsOf(books)
  const [ledger, balances] = [tableName(books.ledger), tableName(books.balances)]
  const [transfer, account, amount, balance, settled] = (
    ['transfer', 'account', 'amount', 'balance', 'settled'] as const
  ).map((column) => new Name([names[column]])) as [Name, Name, Name, Name, Name]
  const skip = runner.dialect === 'sqlite' ? sql`` : sql` FOR UPDATE SKIP LOCKED`
  const entries = await runner.rows(
    sql`
    SELECT ${transfer} AS transfer, ${account} AS account FROM ${ledger}
    WHERE ${settled} = ${false} AND ${account} IN (SELECT ${account} FROM ${balances} WHERE ${balance} IS NOT NULL)
    ORDER BY ${account}, ${transfer} LIMIT ${BigInt(Math.floor(Math.min(limit, mostEntries)))}${skip}`,
    'transfer',
    'account',
  )
  for (const some of byAccount(entries)) {
    const ofAccount = whereOf({ [names.account]: some[0]?.account })
    const listed = joined(
      some.map((entry) => sql`${entry.transfer}`),
      ', ',
    )
    const which = sql`${ofAccount} AND ${transfer} IN (${listed})`
    // The database adds up: a client may read decimals as floating-point numbers, and MySQL an older state of the entries.
    const sum = sql`(SELECT coalesce(SUM(${amount}), 0) FROM ${ledger} WHERE ${which})`
    const added = await runner.change(sql`UPDATE ${balances} SET ${balance} = ${balance} + ${sum} WHERE ${ofAccount}`)
    if (added > 1) throw severalBalances(some[0]?.account)
    const marked = await runner.change(sql`UPDATE ${ledger} SET ${settled} = ${true} WHERE ${which}`)
    // Thrown, so that nothing is settled twice or by halves.
    if (added !== 1 || marked !== some.length) throw storedDifferently(ledger, [names.transfer, names.account])
  }
  return entries.length
}

/** They come in the order of their accounts. What is equal is not decided by text: bytes that are no text would all be. */
function byAccount(entries: readonly Row[]): readonly (readonly Row[])[] {
  const groups: Row[][] = []
  for (const entry of entries) {
    const last = groups.at(-1)
    if (last !== undefined && isDeepStrictEqual(last[0]?.account, entry.account)) last.push(entry)
    else groups.push([entry])
  }
  return groups
}
