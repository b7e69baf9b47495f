import type { PackedMessage } from './parking.ts'

export interface MessageToQueue {
  readonly message: PackedMessage
  /** Messages of one key are taken in the order in which they were sent. */
  readonly key: string | undefined
}

/** Names a row as it was when it was taken. */
export interface QueueTicket {
  /**
   * Names the row; valid until it is removed. You must: not let it name another one later, not even in a database that was
   * put back to an earlier state and counts its rows again from there.
   */
  readonly ticket: string
  /** How often it has been taken, this time included. */
  readonly deliveries: number
}

export interface QueuedMessage extends QueueTicket {
  readonly message: PackedMessage
}

export interface QueueCount {
  /** Can be taken now. */
  readonly ready: number
  /** With a consumer, or delayed. */
  readonly hidden: number
  /** How long ago the oldest of them was sent, by the database's clock. */
  readonly oldestMs: number | undefined
}

/**
 * Durable queues in the store's own tables, with a visibility timeout; what `queueTransport` stands on. Messages that were
 * published and wait to be sent are in queues, too, whose names begin with `>`.
 */
export interface Queue<Tx> {
  /** Inside the given transaction, or in one of its own. */
  send(tx: Tx | undefined, queue: string, messages: readonly MessageToQueue[]): Promise<void>
  /**
   * Takes up to `limit` visible messages, oldest first, and hides them for `visibilityMs` by the database's clock.
   * Rivals must not wait for each other and must not get the same message.
   * Of the messages of one key none is taken while an earlier one is hidden or being taken by another: only an
   * unbroken row from the oldest on. A long row behind a hidden one must not keep other messages from being found.
   * Of `maxBytes` of bodies it takes no more, but always one message: a row of large ones must not fill the memory.
   */
  take(
    queue: string,
    options: { readonly limit: number; readonly visibilityMs: number; readonly maxBytes?: number },
  ): Promise<readonly QueuedMessage[]>
  /**
   * Removes them for good, inside the given transaction or in one of its own. Already gone is not an error.
   * You must: with `deliveries`, remove nothing unless each of them is still taken as often as stated. Otherwise reject
   * with `CLAIM_LOST`, at the latest at the commit, so that nothing of the transaction stands.
   */
  remove(
    tx: Tx | undefined,
    queue: string,
    tickets: readonly string[],
    still?: { readonly deliveries: number },
  ): Promise<void>
  /**
   * Hides them for `visibilityMs` from now; 0: they can be taken at once. Only those still taken as often as stated. `untaken`:
   * from then on as if they had not been taken.
   */
  hide(
    queue: string,
    taken: readonly QueueTicket[],
    visibilityMs: number,
    options?: { readonly untaken?: boolean },
  ): Promise<void>
  count(queue: string): Promise<QueueCount>
  /** The names of all queues that have messages. Costs a look for each of them, not for each message. */
  queues(): Promise<readonly string[]>
  /**
   * Calls `wake` when something may have been sent to the queue, by whichever process. Optional: without it the
   * transport polls. Resolves once listening; the result stops it.
   */
  listen?(queue: string, wake: () => void): Promise<() => Promise<void>>
  /**
   * Tells other processes that something was sent. Without `tx` it is called after the commit, at most a few times a
   * second; with it, the others are told when that transaction commits.
   */
  announce?(queue: string, tx?: Tx): Promise<void>
}
