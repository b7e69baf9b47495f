import { JustonceError } from '../errors/index.ts'
import { checkRounds, insertInto, insertOnce, storedDifferently } from './insert-once.ts'
import { columnList, keyOf, type Table, tableName, whereOf } from './sql/conditions.ts'
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
  const moved = await (runner.dialect === 'postgres' ? inOneStatement : inTwoStatements)(runner, tx, books, entry)
  if (moved === undefined) return { kind: 'duplicate' }
  // Thrown, so that all of it is rolled back.
  if (moved > 1) throw severalBalances(entry.account)
  return moved === 1 ? { kind: 'applied' } : await againOrTakeBack(runner, books, entry)
}

export function severalBalances(account: unknown): JustonceError {
  return new JustonceError('OPTION_INVALID', { message: `There is more than one balance of account ${account}.` })
}

/** How many balances have changed; undefined if the entry was there before. */
type Enter = (runner: Runner, tx: unknown, books: Books, entry: Entry) => Promise<number | undefined>

const inOneStatement: Enter = async (runner, _, books, entry) => {
  const { ledger, unique, amount, row } = partsOf(books, entry)
  const change = balanceChange(books, entry, sql`(SELECT amount FROM justonce_entry)`)
  for (let round = 1; ; round++) {
    const [{ entered, moved, known } = {}] = await runner.rows(
      sql`
      WITH justonce_entry AS (
        ${insertInto(ledger, [row])} ON CONFLICT (${columnList(unique)}) DO NOTHING RETURNING ${amount} AS amount
      ), justonce_balance AS (${change} RETURNING 1)
      SELECT (SELECT count(*) FROM justonce_entry)::int AS entered, (SELECT count(*) FROM justonce_balance)::int AS moved,
        NOT EXISTS (SELECT FROM justonce_entry) AND EXISTS (SELECT FROM ${ledger} WHERE ${keyWhere(row, unique)}) AS known`,
      ...['entered', 'moved', 'known'],
    )
    if (entered === 1) return moved as number
    if (known === true) return undefined
    checkRounds(round, ledger, unique)
  }
}

const inTwoStatements: Enter = async (runner, tx, books, entry) => {
  const { unique, row } = partsOf(books, entry)
  if ((await insertOnce(tx, books.ledger, row, { unique })).kind === 'exists') return undefined
  return await runner.change(balanceChange(books, entry, amountOf(books, entry)))
}

function partsOf(books: Books, entry: Entry) {
  const { transfer, account, amount } = columnsOf(books)
  const unique = [transfer, account]
  const row = rowOf(books, entry)
  return { ledger: tableName(books.ledger), unique, amount: new Name([amount]), row }
}

const keyWhere = (row: Row, unique: readonly string[]): Fragment => whereOf(keyOf(row, unique))

function amountOf(books: Books, entry: Entry): Fragment {
  const { ledger, unique, amount, row } = partsOf(books, entry)
  return sql`(SELECT ${amount} FROM ${ledger} WHERE ${keyWhere(row, unique)})`
}

/** The entry as a row of the ledger. */
export function rowOf(books: Books, entry: Entry): Row {
  const { transfer, account, amount } = columnsOf(books)
  checkAmount(entry.amount, 'The amount of an entry')
  return { ...entry.more, [transfer]: entry.transfer, [account]: entry.account, [amount]: entry.amount }
}

/** What is added is the amount as the ledger has it: a column with fewer digits than were given has rounded it. */
function balanceChange(books: Books, entry: Entry, amount: Fragment): Fragment {
  const { balances, balance, where } = balanceOf(books, entry)
  return sql`UPDATE ${balances} SET ${balance} = ${balance} + ${amount} WHERE ${where} AND ${limitOf(books, entry, amount)}`
}

function limitOf(books: Books, entry: Entry, amount: Fragment): Fragment {
  const { atLeast = 0 } = entry
  if (atLeast !== null) checkAmount(atLeast, 'atLeast of an entry')
  const limit = atLeast === null ? sql`IS NOT NULL` : sql`>= ${new Exact(atLeast)}`
  return sql`(${balanceOf(books, entry).balance} + ${amount}) ${limit}`
}

function balanceOf(books: Books, { account }: Pick<Entry, 'account'>) {
  const names = columnsOf(books)
  const where = whereOf({ [names.account]: account })
  return { balances: tableName(books.balances), balance: new Name([names.balance]), where }
}

/** How often a change is tried again that nothing is in the way of any more. */
const mostRounds = 10

/** The balance has not changed, so the entry must not stay either, unless a rival has made room for it in the same moment. */
async function againOrTakeBack(runner: Runner, books: Books, entry: Entry): Promise<Applied> {
  const { balances, balance, where } = balanceOf(books, entry)
  const amount = amountOf(books, entry)
  // A locking read, because MySQL shows an older balance otherwise if the caller's transaction is stricter than usual.
  const lock = runner.dialect === 'mysql' ? sql` LOCK IN SHARE MODE` : sql``
  const look = sql`SELECT ${balance} AS balance, coalesce(${limitOf(books, entry, amount)}, false) AS fits FROM ${balances} WHERE ${where}${lock}`
  for (let round = 1; ; round++) {
    const [found] = await runner.rows(look, 'balance', 'fits')
    if (found !== undefined && Number(found.fits) === 1 && round < mostRounds) {
      if ((await runner.change(balanceChange(books, entry, amount))) === 1) return { kind: 'applied' }
    } else {
      await takeBack(runner, books, entry)
      return found === undefined
        ? { kind: 'missing', account: entry.account }
        : { kind: 'refused', balance: found.balance }
    }
  }
}

async function takeBack(runner: Runner, books: Books, entry: Entry): Promise<void> {
  const { ledger, unique, row } = partsOf(books, entry)
  const deleted = await runner.change(sql`DELETE FROM ${ledger} WHERE ${keyWhere(row, unique)}`)
  if (deleted !== 1) throw storedDifferently(ledger, unique)
}
