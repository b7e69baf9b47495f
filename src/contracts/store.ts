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

/** What a store can do. The engine asks for this, never for its name. */
export interface StoreCapabilities {
  /**
   * `lend` can cut a handler off. If false, each handler runs in a transaction of its own, and its connection is discarded on
   * failure.
   */
  readonly revocable: boolean
  /** How many transactions can be open at once: the pool's size; 1 for a single connection. */
  readonly connections: number
  /**
   * Several loans of one transaction can be used at once, if they are lent as `interleaved`. Only for a database in which a
   * failed call of one borrower, or one whose text does not show it, cannot end the transaction while calls of others are
   * already on their way: those would commit by themselves. Default: false.
   */
  readonly interleaves?: boolean
}

/** How long a transaction may wait. */
export interface TransactionOptions {
  /** How long any statement may wait for another transaction's lock before it fails as a conflict. */
  readonly lockTimeoutMs?: number
  /** The longest total wait before the work begins; then it rejects with an error that `classify` calls a conflict. */
  readonly giveUpAfterMs?: number
  /** The longest time between two statements; the database ends a holder that is silent for longer. */
  readonly idleTimeoutMs?: number
  /** The longest time that any statement may take, if the database can end one that takes longer. */
  readonly statementTimeoutMs?: number
  /** When aborted, the transaction must soon be rolled back, even while a statement is running. */
  readonly signal?: AbortSignal
  /**
   * Whether the work was cut off when it rejected with this error. Nobody knows what it still has in progress, so nothing may
   * run on its connection afterwards. Cheaper than a signal, which every transaction would have to watch.
   */
  isCutOff?(error: unknown): boolean
}

/**
 * Called by the work of a transaction when nothing is left to do but writes through `inbox.update`, `parking`, `queue` and
 * `facts`. Those may then resolve before they are done, and travel with the commit. If such a write fails, the transaction
 * is rolled back and rejects with what the latest `blame` given before that write makes of the error.
 */
export type LastWrites = (blame: (error: unknown) => unknown) => void

/** A native transaction lent to one handler, and taken back when the handler settles. */
export interface Loan<Tx> {
  /**
   * Looks and works like the native client. Transaction control through it is refused with `TX_CONTROL`, and so is
   * rolling back to a savepoint that the borrower has not created itself.
   */
  readonly tx: Tx
  /**
   * `undefined` if no call that was started through `tx` is still open. Otherwise it resolves when all of them have
   * succeeded, and rejects with the first that failed.
   */
  settled(): Promise<void> | undefined
  /**
   * From now on every call through `tx` is refused with `TX_CLOSED` and reported. Savepoints that the borrower has left
   * open, and changes to the session, end here too, so that they affect no one else. It may be called again, and then
   * returns the current state.
   */
  end(): LoanReport
}

/** How a loan has ended. */
export interface LoanReport {
  /** Calls that were started and have not settled. */
  readonly openCalls: number
  /** Set if the borrower has ended or tried to end the transaction: then nothing of it may be committed. */
  readonly broken: Error | undefined
  /**
   * What the worst failed call through `tx` meant, whether or not the handler passed the error on. It comes from the loan and
   * not from the error, because a refused connection to another server looks just like ours.
   */
  readonly trouble: StoreTrouble
  /**
   * Set by the first `end`, if cleaning up takes time. It rejects if that cannot be done; then nothing of the transaction
   * may be committed. Transactions and parts that are rolled back anyway need not wait for it.
   */
  readonly tidied?: Promise<void> | undefined
}

/** To whom a transaction is lent. */
export interface LoanOptions {
  /** The handler's name, for messages. */
  readonly borrower: string
  /** Called when a call came after the end. */
  onLateCall(error: Error): void
  /**
   * Statements of other borrowers may run between those of this one. A call that they would notice, or that would notice them,
   * is refused with `NOT_INTERLEAVABLE`, and the loan is then broken: savepoints, settings of the session, temporary tables,
   * what the session's last statement did.
   */
  readonly interleaved?: boolean
  /** The records to which the work through this loan belongs, for a store that may apply only a part of it (`PARTLY_APPLIED`). */
  readonly records?: readonly RecordKey[] | undefined
}

/** Savepoints, with one round trip at each boundary. A transaction has at most one open part. */
export interface Parts<Tx> {
  /** Closes the open part, if any, and opens the next. Rejects if what the open part did cannot be committed. */
  next(tx: Tx): Promise<void>
  /** Rolls the open part back to its beginning; it stays open, and the transaction can be used again. */
  undo(tx: Tx): Promise<void>
  /**
   * True if both are sent when they are called, and whatever is run after that is sent behind them, even if they have not
   * resolved yet. Then the handler that comes next does not wait for them, and the last part is ended by the commit. You must: if
   * one fails or is not carried out, let everything behind it fail, too, the commit included (`TX_ABORTED` if the last part
   * cannot be committed), up to the next `undo` that succeeds. Default: false.
   */
  readonly travels?: boolean
}

/** What a failed call to the store means. */
export type StoreTrouble =
  /** Deadlock, lock timeout, serialization failure: the same work may succeed if run again. */
  | 'conflict'
  /** The store cannot be reached, or is shutting down: nothing will work until it is back. */
  | 'unavailable'
  /** Not caused by the store, or nothing that waiting would fix. */
  | 'none'

/** A setting that may make the store lose what it must keep. The code is in the catalogue; the message says what to do. */
export interface StoreWarning {
  readonly code: string
  readonly message: string
}

/** What a store can hold. Anything larger must be refused, or cut, before it reaches the store. */
export interface StoreLimits {
  /** The largest message, envelope and body together, that `park` and `send` take. */
  readonly messageBytes: number
}

/** Where records are kept, together with the effects. Every store of justonce, and yours if you write one, is one of these. */
export interface Store<Tx = unknown> {
  readonly name: string
  readonly guarantee: Guarantee
  readonly capabilities: StoreCapabilities
  /**
   * Runs the work in one READ COMMITTED transaction on a connection of its own and commits it.
   * You must: *seal* it, so that a commit by anyone but you fails or is refused; roll everything back when the work rejects, and
   * never reuse the connection if the rollback cannot be seen to have worked; check the answer to the commit; reject with what
   * the work rejected with, with `COMMIT_UNKNOWN` if the answer was lost, and with `COMMIT_ROLLED_BACK` if the database rolled it
   * back.
   * You may: delay opening it until the first statement, which is usually a claim; give the work a `lastWrites`, if writes and
   * the commit can share a round trip, and then you must commit only if every one of them did what it should.
   * Not your job: retrying.
   */
  transaction<T>(work: (tx: Tx, lastWrites?: LastWrites) => Promise<T>, options?: TransactionOptions): Promise<T>
  /**
   * Changes how long the following statements of this transaction wait for locks of other transactions. Without a number:
   * as long as if no lock timeout had been given when it was opened. Absent if only claims wait inside a transaction.
   */
  setLockTimeout?(tx: Tx, lockTimeoutMs?: number): Promise<void>
  /** Absent if a part of a transaction cannot be rolled back: then every message runs alone. */
  readonly parts?: Parts<Tx>
  /** Lends the transaction's native client to a handler. */
  lend(tx: Tx, options: LoanOptions): Loan<Tx>
  /** Joins a transaction that the caller has opened and will end. */
  within(tx: Tx): JoinedStore<Tx>
  readonly inbox: Inbox<Tx>
  readonly parking: Parking<Tx>
  readonly facts: Facts<Tx>
  /** Absent if records are never removed, or expire by themselves. */
  readonly retention?: Retention
  readonly queue?: Queue<Tx>
  readonly positions?: Positions<Tx>
  readonly schema: Schema
  /**
   * Called by an app when it starts, after `schema`; the app passes the warnings to its listeners. Settings with which the server may
   * lose commits belong to them. `thorough` is for the doctor, which also wants to know what takes longer to find out, such as indexes
   * that are gone. `interleaves`: a handler of the app says so, which some clients of a database cannot make faster. Absent if there is nothing to warn about.
   */
  warnings?(options?: { readonly thorough?: boolean; readonly interleaves?: boolean }): Promise<readonly StoreWarning[]>
  /**
   * What the store can hold now. It may depend on a setting of the server, so it is asked at every start. A larger message makes
   * `park` and `send` reject with `STORE_CANNOT`, before anything is sent. Absent if only the memory is the limit.
   */
  limits?(): Promise<StoreLimits>
  classify(error: unknown): StoreTrouble
  /** Resolves if the store can do work now. */
  ping(): Promise<void>
  /** Closes what the store itself has opened; a client that the user passed in stays open. Calling it twice is no error. */
  close(): Promise<void>
}

/** A store inside the caller's transaction: everything done here is provisional until the caller commits. */
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
