import type { PackedMessage } from './parking.ts'

/** A message on its way into a queue. */
export interface MessageToQueue {
  readonly message: PackedMessage
  /** Messages of one key are taken in the order in which they were sent. */
  readonly key: string | undefined
}

/** Identifies a row as it was when it was taken. */
export interface QueueTicket {
  /**
   * Identifies the row; valid until it is removed. You must: never let it identify another row later, not even in a
   * database that was restored to an earlier state and counts its rows again from there.
   */
  readonly ticket: string
  /** How often it has been taken, including this time. */
  readonly deliveries: number
}

/** A message that was taken from a queue. */
export interface QueuedMessage extends QueueTicket {
  readonly message: PackedMessage
}

/** A message in a queue, as operators see it. */
export interface MessageInQueue extends QueuedMessage {
  /** By the database's clock. */
  readonly sentAt: Date
}

/** How much is in a queue. */
export interface QueueCount {
  /** Can be taken now. */
  readonly ready: number
  /** Taken by a consumer, or delayed. */
  readonly hidden: number
  /** How long ago the oldest of them was sent, by the database's clock. */
  readonly oldestMs: number | undefined
}

/** What must still be true of messages that were taken. */
export type StillQueued =
  /** Each that is removed is still taken as often as stated. Otherwise: `CLAIM_LOST`. */
  | { readonly deliveries: number }
  /**
   * Each of these is still in the queue, however often it was taken: some that are removed, and others that stay. Otherwise:
   * `DELIVERY_GONE`. Used only with a transaction.
   */
  | { readonly present: readonly string[] }

/**
 * Durable queues in the store's own tables, with a visibility timeout. `queueTransport` is built on them. Messages that
 * were published and wait to be sent are in queues, too, whose names begin with `>`.
 */
export interface Queue<Tx> {
  /** Inside the given transaction, or in a transaction of its own. */
  send(tx: Tx | undefined, queue: string, messages: readonly MessageToQueue[]): Promise<void>
  /**
   * Takes up to `limit` visible messages, oldest first, and hides them for `visibilityMs` by the database's clock.
   * Concurrent calls must not wait for each other and must not get the same message.
   * A message is not taken while an earlier one of its key is hidden or being taken by another call: only an unbroken
   * sequence from the oldest on is taken. A long sequence behind a hidden message must not keep other messages from
   * being found.
   * Takes no more than `maxBytes` of bodies, but always one message: a sequence of large ones must not fill the memory.
   * A message that is hidden for much longer than `visibilityMs` was hidden while the database's clock was ahead, perhaps by somebody
   * who is dead. You must: at the latest when it is the oldest of its queue, let it stay hidden for no longer than ten minutes from
   * now, or twice `visibilityMs` if that is more. Do not take it at once: whoever is alive renews it in time.
   */
  take(
    queue: string,
    options: { readonly limit: number; readonly visibilityMs: number; readonly maxBytes?: number },
  ): Promise<readonly QueuedMessage[]>
  /**
   * Removes the messages for good, inside the given transaction or in a transaction of its own. It is no error if one
   * is already gone.
   * You must: with `still`, reject at the latest at the commit, so that nothing of the transaction stands, unless what it
   * says is true.
   */
  remove(tx: Tx | undefined, queue: string, tickets: readonly string[], still?: StillQueued): Promise<void>
  /**
   * Hides the messages for `visibilityMs` from now; with 0 they can be taken immediately. Only those still taken as often as
   * stated. With `untaken`, they then count as if they had not been taken.
   */
  hide(
    queue: string,
    taken: readonly QueueTicket[],
    visibilityMs: number,
    options?: { readonly untaken?: boolean },
  ): Promise<void>
  count(queue: string): Promise<QueueCount>
  /**
   * For operators: up to `limit` messages in the order in which they were sent, those that are hidden included, after the one with
   * the ticket `after`, whether or not that is still there. Only messages that begin within `maxBytes`, but always one. Changes nothing
   * and waits for nobody. Absent if a queue can only be taken from.
   */
  list?(
    queue: string,
    page: { readonly limit: number; readonly after?: string | undefined; readonly maxBytes?: number },
  ): Promise<readonly MessageInQueue[]>
  /** The names of all queues that have messages. Costs one lookup per queue, not per message. */
  queues(): Promise<readonly string[]>
  /**
   * Calls `wake` when something may have been sent to the queue, by any process. Optional: without it the transport
   * polls. Resolves once it is listening; the returned function stops it.
   */
  listen?(queue: string, wake: () => void): Promise<() => Promise<void>>
  /**
   * Notifies other processes that something was sent. Without `tx` it is called after the commit, at most a few times a
   * second; with `tx`, the others are notified when that transaction commits.
   */
  announce?(queue: string, tx?: Tx): Promise<void>
}
