import { add, atLeast, type Changes, type Table, type Where } from './sql/conditions.ts'
import { type Amount, checkAboveZero, negated } from './sql/exact-number.ts'
import { Exact } from './sql/fragment.ts'
import type { Row } from './sql/runner.ts'
import { updateIf } from './update-if.ts'

/** What `reserve()`, `release()` and `take()` take. */
export interface StockOptions {
  /** How much is moved; above 0. */
  readonly amount: Amount
  /** The column with what is free. Default: `free`. */
  readonly free?: string
  /** The column with what is set aside. Default: `held`. */
  readonly held?: string
  /** Other columns that change with it. */
  readonly set?: Changes
}

/** What `reserve()`, `release()` and `take()` answer. */
export type Moved =
  | { readonly kind: 'moved' }
  /** There is less than that: this is the row as it is. */
  | { readonly kind: 'short'; readonly row: Row }
  | { readonly kind: 'missing' }

/** Sets stock aside if there is enough of it. It can never become negative, however many do it at once. */
export async function reserve(tx: unknown, table: Table, where: Where, options: StockOptions): Promise<Moved> {
  const { free = 'free', held = 'held' } = options
  return await move(tx, table, where, options, { from: free, to: held })
}

/** Gives back what was set aside. */
export async function release(tx: unknown, table: Table, where: Where, options: StockOptions): Promise<Moved> {
  const { free = 'free', held = 'held' } = options
  return await move(tx, table, where, options, { from: held, to: free })
}

/** Takes what was set aside: it leaves the stock. */
export async function take(tx: unknown, table: Table, where: Where, options: StockOptions): Promise<Moved> {
  const { held = 'held' } = options
  return await move(tx, table, where, options, { from: held, to: undefined })
}

async function move(
  tx: unknown,
  table: Table,
  where: Where,
  { amount, set = {} }: StockOptions,
  { from, to }: { readonly from: string; readonly to: string | undefined },
): Promise<Moved> {
  // A negative amount would move stock the other way, past the check.
  checkAboveZero(amount, 'The amount of stock')
  const changes = { ...set, [from]: add(negated(amount)), ...(to !== undefined && { [to]: add(amount) }) }
  const outcome = await updateIf(tx, table, where, { if: { [from]: atLeast(new Exact(amount)) }, set: changes })
  if (outcome.kind === 'updated') return { kind: 'moved' }
  return outcome.kind === 'unmet' ? { kind: 'short', row: outcome.row } : outcome
}
