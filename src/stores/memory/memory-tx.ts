import { JustonceError, wrongTx } from '../../errors/index.ts'
import type { MemoryDatabase } from './memory-database.ts'

/** What handlers write through: keys and values that commit together or not at all. Values are copied in and out. */
export interface MemoryTx {
  get<Value = unknown>(key: string): Value | undefined
  set(key: string, value: unknown): void
  /** Returns whether the key existed. */
  delete(key: string): boolean
  has(key: string): boolean
  /** All entries whose key begins with the prefix, ordered by key. */
  entries(prefix?: string): [key: string, value: unknown][]
}

/** One open transaction. */
export interface MemoryTransaction {
  readonly database: MemoryDatabase
  /** How many layers there are without an open part, which adds one; `undefined` before the first part. */
  partDepth: number | undefined
  readonly sentTo: Set<string>
  ended: boolean
}

export interface Lent {
  readonly transaction: MemoryTransaction
  /** Throws if the loan is over. */
  check(): void
}

const lents = new WeakMap<MemoryTx, Lent>()

export function lentTx(lent: Lent): MemoryTx {
  const { values } = lent.transaction.database
  const checked = (): typeof values => {
    lent.check()
    return values
  }
  const tx: MemoryTx = {
    get: <Value>(key: string) => structuredClone(checked().get(key)?.value) as Value | undefined,
    set: (key, value) => checked().set(key, { value: structuredClone(value) }),
    delete: (key) => checked().delete(key),
    has: (key) => checked().get(key) !== undefined,
    entries: (prefix = '') =>
      checked()
        .entries()
        .filter(([key]) => key.startsWith(prefix))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, { value }]) => [key, structuredClone(value)]),
  }
  lents.set(tx, lent)
  return tx
}

/** The transaction behind a `tx`, lent or not. Throws if it is over. */
export function transactionOf(tx: MemoryTx): MemoryTransaction {
  const lent = lents.get(tx)
  if (lent === undefined) throw wrongTx(tx, 'one that a transaction of a memory store gives')
  lent.check()
  return lent.transaction
}

export function closedTxError(borrower: string): JustonceError {
  return new JustonceError('TX_CLOSED', { message: `${borrower} used tx after it had settled.` })
}
