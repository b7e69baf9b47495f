import type { Facts } from './facts.ts'
import type { Inbox, RecordKey } from './inbox.ts'
import type { Parking } from './parking.ts'
import type { Positions } from './positions.ts'
import type { Queue } from './queue.ts'
import type { Retention } from './retention.ts'
import type { Schema } from './schema.ts'

/**
 * - `atomic`: record and effects commit together or not at all.
 * - `isolated`: applied together unless a command fails or the primary is lost (Redis).
 * - `lease`: the effects live elsewhere; a crash may repeat them.
 */
export type Guarantee = 'atomic' | 'isolated' | 'lease'

export interface StoreCapabilities {
  /** `lend` can cut a handler off. False: handlers run one to a transaction, and their connection is discarded on failure. */
  readonly revocable: boolean
  /** How many transactions can be open at once: the pool's size; 1 for a single connection. */
  readonly connections: number
}

export interface TransactionOptions {
  /** How long any statement may wait for a rival's lock before it fails as a conflict. */
  readonly lockTimeoutMs?: number
  /** The longest wait before the work begins, all told; then it rejects with an error that `classify` calls a conflict. */
  readonly giveUpAfterMs?: number
  /** The longest time between two statements; the database ends a holder that is silent for longer. */
  readonly idleTimeoutMs?: number
  /** The longest any statement may take, where the database can end one that takes longer. */
  readonly statementTimeoutMs?: number
  /** When aborted the transaction must end undone soon, even while a statement is running. */
  readonly signal?: AbortSignal
}

/** A native transaction lent to one handler, and taken back when the handler settles. */
export interface Loan<Tx> {
  /**
   * Looks and works like the native client; transaction control through it is refused with `TX_CONTROL`, and so is going
   * back to a savepoint that the borrower has not made itself.
   */
  readonly tx: Tx
  /**
   * Undefined: no call that was begun through `tx` is still open. Otherwise it resolves when all of them have succeeded, and
   * rejects with the first that failed.
   */
  settled(): Promise<void> | undefined
  /**
   * From now on every call through `tx` is refused with `TX_CLOSED` and reported. What the borrower has left open (its
   * savepoints) or changed of the session ends here, too, so that it reaches nobody else. It may be called again, and
   * answers what is true by then.
   */
  end(): LoanReport
}

export interface LoanReport {
  /** Calls that were begun and have not settled. */
  readonly openCalls: number
  /** Set when the borrower has ended or tried to end the transaction: then nothing of it may be committed. */
  readonly broken: Error | undefined
  /**
   * What the worst failed call through `tx` meant, whether or not the handler let it out. It comes from the loan and not from
   * the error: a refused connection to somewhere else looks just like ours.
   */
  readonly trouble: StoreTrouble
  /**
   * Given by the first end, where it takes time to clear away what was left. It rejects if that cannot be done; then nothing
   * of the transaction may be committed. Transactions and parts that are rolled back anyway need not wait for it.
   */
  readonly tidied?: Promise<void> | undefined
}

export interface LoanOptions {
  /** The handler's name, for messages. */
  readonly borrower: string
  /** A call came after the end. */
  onLateCall(error: Error): void
  /** The records that what is done through this loan belongs to, for a store that may apply a part of it (`PARTLY_APPLIED`). */
  readonly records?: readonly RecordKey[] | undefined
}

/** Savepoints, one round trip at each boundary. A transaction has at most one open part. */
export interface Parts<Tx> {
  /** Closes the open part, if any, and opens the next. Rejects if what the open part did cannot be committed. */
  next(tx: Tx): Promise<void>
  /** Undoes the open part back to its beginning; it stays open, and the transaction can be used again. */
  undo(tx: Tx): Promise<void>
}

/** What a failed call to the store means. */
export type StoreTrouble =
  /** Deadlock, lock timeout, serialization failure: the same work may succeed if run again. */
  | 'conflict'
  /** The store cannot be reached, or is shutting down: nothing will work until it is back. */
  | 'unavailable'
  /** Not the store's doing, or nothing that waiting would mend. */
  | 'none'

/** A setting that may cost the store what it is to keep. The code is in the catalogue; the message says what to do. */
export interface StoreWarning {
  readonly code: string
  readonly message: string
}

/** What a store can hold. More than that has to be refused, or cut, before it gets to the store. */
export interface StoreLimits {
  /** The largest message, envelope and body together, that `park` and `send` take. */
  readonly messageBytes: number
}

export interface Store<Tx = unknown> {
  readonly name: string
  readonly guarantee: Guarantee
  readonly capabilities: StoreCapabilities
  /**
   * Runs the work in one READ COMMITTED transaction on a connection of its own and commits it.
   * You must: *seal* it, so that a commit by anyone but you fails or is refused; undo everything when the work rejects,
   * and never reuse the connection if that cannot be seen to have worked; look at what the commit answered; reject
   * with what the work rejected with, with `COMMIT_UNKNOWN` when the answer was lost, and with `COMMIT_ROLLED_BACK` when the database undid it.
   * You may: delay opening it until the first statement, which is mostly a claim.
   * Not your job: retrying.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>
  /**
   * Changes how long the statements that come next in this transaction wait for locks of others; without a number: as long
   * as where nothing was said when it was opened. Absent where nothing but claims waits inside a transaction.
   */
  setLockTimeout?(tx: Tx, lockTimeoutMs?: number): Promise<void>
  /** Absent where a part of a transaction cannot be undone: then every message runs alone. */
  readonly parts?: Parts<Tx>
  /** Lends the transaction's native client to a handler. */
  lend(tx: Tx, options: LoanOptions): Loan<Tx>
  /** Joins a transaction that the caller has opened and will end. */
  within(tx: Tx): JoinedStore<Tx>
  readonly inbox: Inbox<Tx>
  readonly parking: Parking<Tx>
  readonly facts: Facts<Tx>
  /** Absent where records are never removed, or end by themselves. */
  readonly retention?: Retention
  readonly queue?: Queue<Tx>
  readonly positions?: Positions<Tx>
  readonly schema: Schema
  /** Asked by an app when it starts, after `schema`; it tells its listeners. Absent where there is nothing to ask about. */
  warnings?(): Promise<readonly StoreWarning[]>
  /**
   * What the store can hold now; it may depend on a setting of the server, so that it is asked at every start. A message that is
   * larger makes `park` and `send` reject with `STORE_CANNOT`, before anything is sent. Absent: there is no limit
   * but the memory.
   */
  limits?(): Promise<StoreLimits>
  classify(error: unknown): StoreTrouble
  /** Resolves if the store can do work now. */
  ping(): Promise<void>
  /** Closes what the store itself has opened; a client that the user passed in stays open. Twice is no error. */
  close(): Promise<void>
}

/** A store inside the caller's transaction: whatever happens here is provisional until the caller commits. */
export interface JoinedStore<Tx> {
  readonly name: string
  readonly guarantee: Guarantee
  readonly tx: Tx
  /** Runs the work in a savepoint, so that its failure leaves the caller's transaction usable. */
  savepoint<T>(work: () => Promise<T>): Promise<T>
  lend(tx: Tx, options: LoanOptions): Loan<Tx>
  readonly inbox: Inbox<Tx>
  classify(error: unknown): StoreTrouble
}
