import { JustonceError } from '../errors/index.ts'
import { keyOf, type Table, tableName, whereOf } from './sql/conditions.ts'
import { type Amount, checkAmount } from './sql/exact-number.ts'
import { type Dialect, Exact, type Fragment, Name, sql } from './sql/fragment.ts'
import type { Row, Runner } from './sql/runner.ts'

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

/** The entry as a row of the ledger. */
export function rowOf(books: Books, entry: Entry): Row {
  const { transfer, account, amount } = columnsOf(books)
  checkAmount(entry.amount, 'The amount of an entry')
  return { ...entry.more, [transfer]: entry.transfer, [account]: entry.account, [amount]: entry.amount }
}

/** The columns of the ledger that make two entries the same. */
export function uniqueOf(books: Books): readonly string[] {
  const { transfer, account } = columnsOf(books)
  return [transfer, account]
}

/**
 * The amount as Postgres keeps it in the ledger: a column with fewer digits than were given rounds it. Nothing else that takes a
 * value knows how many digits a column has.
 */
export function keptAmount(books: Books, amount: Amount): Fragment {
  const column = columnsOf(books).amount
  const row = sql`jsonb_populate_record(NULL::${tableName(books.ledger)}, jsonb_build_object(${column}::text, ${String(amount)}::text))`
  return sql`(${row}).${new Name([column])}`
}

/** Whether an entry has this amount, as far as the ledger keeps its digits. */
export function isSameAmount(dialect: Dialect, books: Books, amount: Amount): Fragment {
  const column = sql`${new Name([columnsOf(books).amount])}`
  if (dialect === 'postgres') return sql`coalesce(${column} = ${keptAmount(books, amount)}, false)`
  const given = new Exact(amount)
  if (dialect === 'sqlite') return sql`coalesce(${column} = ${given}, false)`
  const text = sql`CAST(${column} AS CHAR)`
  const digits = sql`IF(LOCATE('.', ${text}) = 0, 0, LENGTH(${text}) - LOCATE('.', ${text}))`
  return sql`coalesce(${column} = ROUND(${given}, ${digits}), false)`
}

/** The entry that is there for this transfer and account. */
export async function findEntry(runner: Runner, books: Books, entry: Entry): Promise<Row | undefined> {
  const ledger = tableName(books.ledger)
  const same = isSameAmount(runner.dialect, books, entry.amount)
  const where = whereOf(keyOf(rowOf(books, entry), uniqueOf(books)))
  // A locking read, because MySQL shows an older state otherwise if the caller's transaction is stricter than usual.
  const lock = runner.dialect === 'mysql' ? sql` LOCK IN SHARE MODE` : sql``
  const entryName = new Name(['justonce_entry'])
  const look = sql`SELECT ${same} AS ${new Name(['justonce_same'])}, ${entryName}.* FROM ${ledger} AS ${entryName} WHERE ${where}${lock}`
  const [found] = await runner.rows(look, 'justonce_same')
  if (found === undefined) return undefined
  const { justonce_same: isSame, ...row } = found
  checkSame(isSame, entry)
  return row
}

/** Thrown, because whoever takes it for a copy believes that what it asks for has happened. */
export function checkSame(isSame: unknown, { transfer, account, amount }: Entry): void {
  if (Number(isSame) === 1) return
  throw new JustonceError('KEY_REUSED', {
    message: `Account ${account} has an entry for transfer ${transfer}, but its amount is not ${amount}. Give each transfer an id of its own.`,
  })
}

export function severalBalances(account: unknown): JustonceError {
  return new JustonceError('OPTION_INVALID', { message: `There is more than one balance of account ${account}.` })
}
