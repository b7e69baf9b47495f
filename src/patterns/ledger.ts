import { insertInto, insertOnce } from './insert-once.ts'
import { add, assignments, columnList, type Table, tableName, whereOf } from './sql/conditions.ts'
import { type Amount, checkAmount } from './sql/exact-number.ts'
import { Exact, type Fragment, Name, sql } from './sql/fragment.ts'
import { type Row, type Runner, runnerOf } from './sql/runner.ts'

/** Where entries and balances are. */
export interface Books {
  /** The table with the entries. It must have a unique index on (transfer, account). */
  readonly ledger: Table
  /** The table with a balance for each account. */
  readonly balances: Table
  /** Names of columns that differ from the default ones. */
  readonly columns?: Partial<BookColumns>
}

/** How the columns of a ledger and its balances are called. */
export interface BookColumns {
  /** In the ledger. Default: `transfer`. */
  readonly transfer: string
  /** In both tables. Default: `account`. */
  readonly account: string
  /** In the ledger. Default: `amount`. */
  readonly amount: string
  /** In the balances. Default: `balance`. */
  readonly balance: string
  /** In the ledger, for `settleEntries`: whether the entry is part of its balance; true by default. Default: `settled`. */
  readonly settled: string
}

/** One change of one balance. */
export interface Entry {
  /** The id of the transfer: an entry for the same transfer and account is made once. */
  readonly transfer: unknown
  readonly account: unknown
  /** What is added to the balance; below 0 it is taken from it. */
  readonly amount: Amount
  /** The balance must not fall below this. Default: 0; `null` for no limit. */
  readonly atLeast?: Amount | null
  /** Other columns of the entry. */
  readonly more?: Row
}

/** What `applyEntry()` and `transfer()` answer. */
export type Applied =
  | { readonly kind: 'applied' }
  /** It was made before. */
  | { readonly kind: 'duplicate' }
  /** The balance would fall below its limit: nothing was changed. */
  | { readonly kind: 'refused'; readonly balance: unknown }
  /** There is no such account: nothing was changed. */
  | { readonly kind: 'missing'; readonly account: unknown }

export function columnsOf({ columns = {} }: Pick<Books, 'columns'>): BookColumns {
  return {
    transfer: 'transfer',
    account: 'account',
    amount: 'amount',
    balance: 'balance',
    settled: 'settled',
    ...columns,
  }
}

/**
 * Makes one entry and changes the balance of its account, once for each (transfer, account). Amounts stay exact: the database
 * computes, not JavaScript.
 *
 * ```ts
 * await applyEntry(tx, { ledger: 'entries', balances: 'accounts' }, { transfer: message.id, account: 7, amount: '12.50' })
 * ```
 */
export async function applyEntry(tx: unknown, books: Books, entry: Entry): Promise<Applied> {
  const runner = runnerOf(tx)
  const { transfer, account } = columnsOf(books)
  const row = rowOf(books, entry)
  const change = balanceChange(books, entry)
  if (runner.dialect === 'postgres') {
    const [{ entered, moved } = {}] = await runner.rows(sql`
      WITH entry AS (
        ${insertInto(tableName(books.ledger), [row])} ON CONFLICT (${columnList([transfer, account])}) DO NOTHING RETURNING 1
      ), balance AS (${change} AND EXISTS (SELECT FROM entry) RETURNING 1)
      SELECT (SELECT count(*) FROM entry)::int AS entered, (SELECT count(*) FROM balance)::int AS moved`)
    if (entered === 0) return { kind: 'duplicate' }
    return moved === 1 ? { kind: 'applied' } : await takeBack(runner, books, entry)
  }
  const inserted = await insertOnce(tx, books.ledger, row, { unique: [transfer, account] })
  if (inserted.kind === 'exists') return { kind: 'duplicate' }
  return (await runner.change(change)) === 1 ? { kind: 'applied' } : await takeBack(runner, books, entry)
}

/** The entry as a row of the ledger. */
export function rowOf(books: Books, entry: Entry): Row {
  const { transfer, account, amount } = columnsOf(books)
  checkAmount(entry.amount, 'The amount of an entry')
  return { ...entry.more, [transfer]: entry.transfer, [account]: entry.account, [amount]: entry.amount }
}

function balanceChange(books: Books, { account, amount, atLeast = 0 }: Entry): Fragment {
  const names = columnsOf(books)
  if (atLeast !== null) checkAmount(atLeast, 'atLeast of an entry')
  const balance = new Name([names.balance])
  const set = assignments({ [names.balance]: add(amount) })
  const change = sql`UPDATE ${tableName(books.balances)} SET ${set} WHERE ${whereOf({ [names.account]: account })}`
  return atLeast === null ? change : sql`${change} AND ${balance} + ${new Exact(amount)} >= ${new Exact(atLeast)}`
}

/** The balance has not changed, so the entry must not stay either. */
async function takeBack(runner: Runner, books: Books, { transfer, account }: Entry): Promise<Applied> {
  const names = columnsOf(books)
  const where = whereOf({ [names.transfer]: transfer, [names.account]: account })
  await runner.change(sql`DELETE FROM ${tableName(books.ledger)} WHERE ${where}`)
  return await whyNot(runner, books, account)
}

export async function whyNot(runner: Runner, books: Books, account: unknown): Promise<Applied> {
  const names = columnsOf(books)
  const [found] = await runner.rows(sql`
    SELECT ${new Name([names.balance])} AS balance FROM ${tableName(books.balances)}
    WHERE ${whereOf({ [names.account]: account })}`)
  return found === undefined ? { kind: 'missing', account } : { kind: 'refused', balance: found.balance }
}
