import type { PackedMessage } from './parking.ts'

export interface OutboxMessage {
  readonly id: string
  readonly message: PackedMessage
}

export interface LeasedMessage extends OutboxMessage {
  /** Changes with every lease: whoever comes back late with an old one changes nothing. */
  readonly lease: string
  readonly attempts: number
}

/** Messages that were published inside transactions and have not been handed to the broker yet. */
export interface Outbox<Tx> {
  /** An id that is still pending may come again (an at-least-once run was repeated); that is no error. */
  append(tx: Tx, messages: readonly OutboxMessage[]): Promise<void>
  /** Leases up to `limit` due messages, oldest first, in a short transaction of its own; others do not get them for `leaseMs`. */
  lease(limit: number, leaseMs: number): Promise<readonly LeasedMessage[]>
  /** Removes those whose lease still holds; resolves to how many that were. */
  markSent(messages: readonly LeasedMessage[]): Promise<number>
  /** Gives those whose lease still holds another try after `delayMs`, counted, or, with `dead`, none by itself. */
  markFailed(
    messages: readonly LeasedMessage[],
    failure: { delayMs: number; error: string; dead: boolean },
  ): Promise<void>
  count(): Promise<{ readonly pending: number; readonly dead: number }>
}
