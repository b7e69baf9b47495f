import type { PackedMessage } from './parking.ts'

export interface OutboxMessage {
  readonly id: string
  /** Messages of one key leave in the order in which they were appended; those without one in any order. */
  readonly key: string | undefined
  readonly message: PackedMessage
}

export interface LeasedMessage extends Omit<OutboxMessage, 'key'> {
  /** Changes with every lease: whoever comes back late with an old one changes nothing. */
  readonly lease: string
  readonly attempts: number
}

/** One that the broker has refused so often that it is not tried any more by itself. */
export interface DeadOutgoing extends Omit<OutboxMessage, 'key'> {
  readonly attempts: number
  /** What the broker said last. */
  readonly error: string
}

/** Messages that were published inside transactions and have not been handed to the broker yet. */
export interface Outbox<Tx> {
  /**
   * An id may come again while it is pending or dead: an at-least-once run was repeated, or somebody gives the id of one
   * message to several. You must: keep each of them, for nothing says that their contents are the same.
   */
  append(tx: Tx, messages: readonly OutboxMessage[]): Promise<void>
  /**
   * Leases up to `limit` due messages, oldest first, in a short transaction of its own; others do not get them for `leaseMs`.
   * Of the messages of one key none is leased while an earlier one is leased by another or waits for its next try: only an
   * unbroken row from the oldest on. Dead ones hold nobody up. A long row behind one that waits must not keep other
   * messages from being found. Of `maxBytes` it leases no more than begin within them, but always one message: large ones
   * must not fill the memory.
   */
  lease(limit: number, leaseMs: number, maxBytes?: number): Promise<readonly LeasedMessage[]>
  /** Removes those whose lease still holds; resolves to how many that were. */
  markSent(messages: readonly LeasedMessage[]): Promise<number>
  /** Gives those whose lease still holds another try after `delayMs`, counted, or, with `dead`, none by itself. */
  markFailed(
    messages: readonly LeasedMessage[],
    failure: { delayMs: number; error: string; dead: boolean },
  ): Promise<void>
  /** Gives those whose lease still holds back, due at once, as if they had not been leased. */
  release(messages: readonly LeasedMessage[]): Promise<void>
  count(): Promise<{ readonly pending: number; readonly dead: number }>
  /** The dead ones, oldest first. */
  listDead(limit: number): Promise<readonly DeadOutgoing[]>
  /** Makes dead ones pending again, due at once and with no attempts counted; all of them without ids. Resolves to how many. */
  retryDead(ids?: readonly string[]): Promise<number>
}
