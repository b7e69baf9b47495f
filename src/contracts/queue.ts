import type { PackedMessage } from './parking.ts'

export interface MessageToQueue {
  readonly message: PackedMessage
  /** Messages of one key are taken in the order in which they were sent. */
  readonly key: string | undefined
}

export interface QueuedMessage {
  /**
   * Names the row; valid until it is removed. You must: not let it name another one later, not even in a database that was
   * put back to an earlier state and counts its rows again from there.
   */
  readonly ticket: string
  readonly message: PackedMessage
  /** How often it has been taken, this time included. */
  readonly deliveries: number
}

/** A durable queue in the store's own tables, with a visibility timeout; what `queueTransport` stands on. */
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
  /** Removes them for good, inside the given transaction or in one of its own. Already gone is not an error. */
  remove(tx: Tx | undefined, queue: string, tickets: readonly string[]): Promise<void>
  /** Hides them for `visibilityMs` from now; 0 gives them back at once. Only those still taken as often as stated. */
  hide(queue: string, taken: readonly { ticket: string; deliveries: number }[], visibilityMs: number): Promise<void>
  /** `ready` can be taken now; `hidden` is with a consumer or delayed. */
  count(queue: string): Promise<{ readonly ready: number; readonly hidden: number }>
  /**
   * Calls `wake` when something may have been sent to the queue, by whichever process. Optional: without it the
   * transport polls. Resolves once listening; the result stops it.
   */
  listen?(queue: string, wake: () => void): Promise<() => Promise<void>>
  /** Tells other processes that something was sent. Called after the commit, at most a few times a second. */
  announce?(queue: string): Promise<void>
}
