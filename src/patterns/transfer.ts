import { JustonceError } from '../errors/index.ts'
import { type Applied, applyEntry, type Books, columnsOf } from './ledger.ts'
import { oneOf, tableName, whereOf } from './sql/conditions.ts'
import { type Amount, checkAmount } from './sql/exact-number.ts'
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
 * locked in the order of their accounts, so transfers in opposite directions do not end in a deadlock.
 */
export async function transfer(tx: unknown, books: Books, options: TransferOptions): Promise<Applied> {
  const { from, to, amount, atLeast = 0, more = {}, ...entry } = options
  const negative = negated(amount)
  const runner = runnerOf(tx)
  const { account } = columnsOf(books)
  const column = new Name([account])
  const lock = runner.dialect === 'sqlite' ? sql`` : sql` FOR UPDATE`
  const rows = await runner.rows(
    sql`
    SELECT ${column} = ${from} AS is_from, ${column} = ${to} AS is_to FROM ${tableName(books.balances)} WHERE ${whereOf({ [account]: oneOf([from, to]) })}
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
  const taken = await applyEntry(tx, books, { ...entry, account: from, amount: negative, atLeast, more })
  if (taken.kind !== 'applied') return taken
  const given = await applyEntry(tx, books, { ...entry, account: to, amount, atLeast: null, more })
  if (given.kind === 'applied') return given
  // Thrown, so that what was taken is rolled back: this id belongs to another transfer to the same account.
  throw new JustonceError('KEY_REUSED', {
    message: `Account ${to} has an entry for transfer ${entry.transfer}, and account ${from} has none.`,
  })
}

function negated(amount: Amount): Amount {
  checkAmount(amount, 'The amount of a transfer')
  const isAboveZero = typeof amount === 'string' ? /^\+?[\d.]*[1-9]/.test(amount) : amount > 0
  if (!isAboveZero)
    throw new JustonceError('OPTION_INVALID', {
      message: `The amount of a transfer is ${amount}, but must be above 0.`,
    })
  return typeof amount === 'string' ? `-${amount.replace('+', '')}` : -amount
}
