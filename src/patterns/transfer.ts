import { JustonceError } from '../errors/index.ts'
import { type Applied, applyEntry } from './apply-entry.ts'
import { type Books, columnsOf, type Entry, findEntry } from './ledger.ts'
import { equals, oneOf, tableName, whereOf } from './sql/conditions.ts'
import { type Amount, checkAboveZero, negated } from './sql/exact-number.ts'
import { Name, sql } from './sql/fragment.ts'
import { type Row, runnerOf } from './sql/runner.ts'

/** What `transfer()` takes. */
export interface TransferOptions {
  /** The id of the transfer: it is made once. */
  readonly transfer: unknown
  /** The account that it is taken from. */
  readonly from: unknown
  /** The account that it is added to. */
  readonly to: unknown
  /** Above 0. */
  readonly amount: Amount
  /** The balance of `from` must not fall below this. Default: 0; `null` for no limit. */
  readonly atLeast?: Amount | null
  /** Other columns of both entries. */
  readonly more?: Row
}

/**
 * Moves an amount from one account to another, with an entry for each (double entry), once for each transfer. Both balances are
 * locked in the order of their accounts, so transfers in opposite directions do not end in a deadlock. An id that belongs to another
 * transfer, with other accounts or another amount, is refused (`KEY_REUSED`).
 */
export async function transfer(tx: unknown, books: Books, options: TransferOptions): Promise<Applied> {
  const { from, to, amount, atLeast = 0, more = {}, ...entry } = options
  checkAboveZero(amount, 'The amount of a transfer')
  const runner = runnerOf(tx)
  const { account } = columnsOf(books)
  const column = new Name([account])
  const lock = locks[runner.dialect]
  const rows = await runner.rows(
    sql`
    SELECT ${equals(column, from)} AS is_from, ${equals(column, to)} AS is_to FROM ${tableName(books.balances)} WHERE ${whereOf({ [account]: oneOf([from, to]) })}
    ORDER BY ${column}${lock}`,
    'is_from',
    'is_to',
  )
  // 1 or '1' where the database or the client has no booleans.
  const found = rows.map(({ is_from, is_to }) => ({ is_from: Number(is_from) === 1, is_to: Number(is_to) === 1 }))
  // The database compares, because it may call texts equal that JavaScript does not: 7 and '7', or a UUID in capitals.
  if (found.some(({ is_from, is_to }) => is_from && is_to))
    throw new JustonceError('OPTION_INVALID', { message: `A transfer from ${from} to itself.` })
  if (!found.some(({ is_from }) => is_from)) return { kind: 'missing', account: from }
  if (!found.some(({ is_to }) => is_to)) return { kind: 'missing', account: to }
  const takes: Entry = { ...entry, account: from, amount: negated(amount), atLeast, more }
  const gives: Entry = { ...entry, account: to, amount, atLeast: null, more }
  const taken = await applyEntry(tx, books, takes)
  if (taken.kind === 'duplicate') {
    if ((await findEntry(runner, books, gives)) === undefined) throw otherTransfer(takes, gives)
    return taken
  }
  if (taken.kind !== 'applied') return taken
  const given = await applyEntry(tx, books, gives)
  if (given.kind !== 'applied') throw otherTransfer(gives, takes)
  return given
}

/** Rows that refer to an account need not wait for its balance. */
const locks = { postgres: sql` FOR NO KEY UPDATE`, mysql: sql` FOR UPDATE`, sqlite: sql`` }

/** Thrown, so that what was taken is rolled back, and nobody believes that this transfer was made. */
function otherTransfer({ transfer, account }: Entry, other: Entry): JustonceError {
  return new JustonceError('KEY_REUSED', {
    message: `Account ${account} has an entry for transfer ${transfer}, and account ${other.account} has none: the id belongs to another transfer. Give each an id of its own.`,
  })
}
