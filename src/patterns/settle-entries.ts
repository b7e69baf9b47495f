import { insertOnce } from './insert-once.ts'
import { type Books, columnsOf, type Entry, rowOf } from './ledger.ts'
import { add, assignments, tableName, whereOf } from './sql/conditions.ts'
import { joined, Name, sql } from './sql/fragment.ts'
import { runnerOf } from './sql/runner.ts'

/**
 * Makes one entry for each (transfer, account), and leaves the balance to `settleEntries`: messages for one account do not wait
 * for each other. The ledger needs a column `settled` that is true by default, so that entries of `applyEntry` are not added again.
 */
export async function recordEntry(
  tx: unknown,
  books: Books,
  entry: Omit<Entry, 'atLeast'>,
): Promise<{ readonly kind: 'recorded' | 'duplicate' }> {
  const { transfer, account, settled } = columnsOf(books)
  const row = { ...rowOf(books, entry), [settled]: false }
  const { kind } = await insertOnce(tx, books.ledger, row, { unique: [transfer, account] })
  return { kind: kind === 'inserted' ? 'recorded' : 'duplicate' }
}

/**
 * Adds entries that are not part of their balance yet, the sum of each account in one step. Several processes may do it at once:
 * each takes other entries. Call it until it resolves to 0, and again when there may be more. Entries of accounts without a
 * balance stay as they are.
 */
export async function settleEntries(
  tx: unknown,
  books: Books,
  { limit = 1_000 }: { readonly limit?: number } = {},
): Promise<number> {
  const runner = runnerOf(tx)
  const names = columnsOf(books)
  const [ledger, balances] = [tableName(books.ledger), tableName(books.balances)]
  const [transfer, account, amount, settled] = [names.transfer, names.account, names.amount, names.settled].map(
    (name) => new Name([name]),
  ) as [Name, Name, Name, Name]
  const skip = runner.dialect === 'sqlite' ? sql`` : sql` FOR UPDATE SKIP LOCKED`
  const entries = await runner.rows(sql`
    SELECT ${transfer} AS transfer, ${account} AS account FROM ${ledger}
    WHERE ${settled} = ${false} AND ${account} IN (SELECT ${account} FROM ${balances})
    ORDER BY ${account}, ${transfer} LIMIT ${BigInt(limit)}${skip}`)
  for (const some of Map.groupBy(entries, (entry) => String(entry.account)).values()) {
    const ofAccount = whereOf({ [names.account]: some[0]?.account })
    const listed = joined(
      some.map((entry) => sql`${entry.transfer}`),
      ', ',
    )
    const which = sql`${ofAccount} AND ${transfer} IN (${listed})`
    const [{ sum } = {}] = await runner.rows(sql`SELECT SUM(${amount}) AS sum FROM ${ledger} WHERE ${which}`)
    const set = assignments({ [names.balance]: add(sum as string) })
    await runner.change(sql`UPDATE ${balances} SET ${set} WHERE ${ofAccount}`)
    await runner.change(sql`UPDATE ${ledger} SET ${settled} = ${true} WHERE ${which}`)
  }
  return entries.length
}
