import type { RecordKey } from './inbox.ts'

/** A message in the form in which stores keep it: two opaque byte strings, so that nothing in it can break a statement. */
export interface PackedMessage {
  /** Everything but the body; see encoding/packed-message.ts. */
  readonly envelope: Uint8Array
  readonly body: Uint8Array
}

/** A message that is kept until its next attempt, or for a person. The parked row is its only owner. */
export interface ParkedMessage extends RecordKey {
  readonly messageId: string
  readonly type: string
  readonly source: string
  readonly message: PackedMessage
  /** `waiting` has a next attempt; `dead` is a dead letter. */
  readonly state: 'waiting' | 'dead'
  readonly attempts: number
  /** The catalogue code of why it is here. */
  readonly reason: string
  /** JSON text: an array of `{ at, message }`, oldest first. Cleaned of what a database refuses, and cut. */
  readonly errors: string
  /** Position of the handler among the handlers of its type: a later handler waits while an earlier one is parked. */
  readonly step: number
  /** It waits for no earlier step. */
  readonly independent: boolean
}

/** `delayMs` counts from the database's now, so that processes with different clocks agree. */
export interface NewParkedMessage extends ParkedMessage {
  readonly delayMs: number
}

export interface StoredParkedMessage extends ParkedMessage {
  readonly parkedAt: Date
  readonly nextAt: Date
}

export type ParkedChange = RecordKey &
  (
    | { readonly kind: 'done' }
    | {
        readonly kind: 'again'
        readonly attempts: number
        readonly delayMs: number
        readonly reason: string
        readonly errors: string
      }
    | { readonly kind: 'dead'; readonly attempts: number; readonly reason: string; readonly errors: string }
  )

export interface ParkedFilter {
  readonly state?: 'waiting' | 'dead' | undefined
  readonly handler?: string | undefined
  readonly limit?: number | undefined
}

/** Waiting retries and dead letters, one table, unique by (handler, key). Texts have at most 300 characters. */
export interface Parking<Tx> {
  /** Stores them; a row that is there already stays as it is (the same bad message came twice). */
  park(tx: Tx, messages: readonly NewParkedMessage[]): Promise<void>
  /**
   * Locks up to `limit` due messages of the given handlers for the rest of this transaction, skipping those that others
   * hold. A message whose earlier step (same source, type and message id, lower `step`) is still parked is not due, unless it
   * is independent. Due is
   * decided by the database's clock; those due longest come first. Handlers are named because another process may know handlers that this one does not.
   */
  takeDue(tx: Tx, options: { limit: number; handlers: readonly string[] }): Promise<readonly StoredParkedMessage[]>
  /** The same for one given message, due or not, dead or not; undefined when it is gone or held by another. */
  take(tx: Tx, key: RecordKey): Promise<StoredParkedMessage | undefined>
  /** `done` removes the row; `again` keeps it for another attempt, also one that was dead; `dead` ends its attempts. */
  change(tx: Tx, changes: readonly ParkedChange[]): Promise<void>
  /** For people and tests: oldest first. */
  list(filter?: ParkedFilter): Promise<readonly StoredParkedMessage[]>
  count(filter?: ParkedFilter): Promise<number>
}
