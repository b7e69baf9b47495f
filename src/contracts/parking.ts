import type { RecordKey } from './inbox.ts'

/** A message in the form in which stores keep it: two opaque byte strings, so that nothing in it can break a statement. */
export interface PackedMessage {
  /** Everything but the body; see encoding/packed-message.ts. */
  readonly envelope: Uint8Array
  readonly body: Uint8Array
}

/** Why a message is parked. The texts are cleaned of what databases refuse, and shortened. */
export interface ParkedReason {
  /** The catalogue code. */
  readonly reason: string
  /** JSON text: an array of `{ at, message }`, oldest first. */
  readonly errors: string
  /** The last error on one line, without what varies from message to message: messages of one shape form one group. */
  readonly shape: string
}

/** A message that is kept until its next attempt, or for an operator. The parked row is its only owner. */
export interface ParkedMessage extends RecordKey, ParkedReason {
  readonly messageId: string
  readonly type: string
  /** Where it came from. Of an intent, and of a message on its way out: the key of the message whose handler wanted it. */
  readonly source: string
  /** The name under which the business knows what it is about, such as the number of an order, if the app says so. */
  readonly businessId?: string | undefined
  readonly message: PackedMessage
  /** `waiting` has a next attempt; `dead` is a dead letter. */
  readonly state: 'waiting' | 'dead'
  readonly attempts: number
  /** Position of the handler among the handlers of its type: a later handler waits while an earlier one is parked. */
  readonly step: number
  /** It does not wait for earlier steps. */
  readonly independent: boolean
  /** The key whose order its handler keeps. For each (handler, order key), only the message that was parked first is ever due. */
  readonly orderKey: string | undefined
}

/** `delayMs` counts from the database's now, so that processes with different clocks agree. */
export interface NewParkedMessage extends ParkedMessage {
  readonly delayMs: number
  /** When it is due by the database's clock, instead of after `delayMs`. */
  readonly dueAt?: Date | undefined
  /** The redrive that has released the row which this one replaces. This one is stored as released by it, too. */
  readonly redrive?: string | undefined
  /** The body as it was received, if an operator has edited the row which this one replaces. */
  readonly originalBody?: Uint8Array | undefined
}

/** A parked message as the store has it. */
export interface StoredParkedMessage extends ParkedMessage {
  /** Grows from row to row, also across handlers. Serves as the position in a list from which to continue. */
  readonly sequence: number
  /**
   * Grows with every change of the row, including a reservation, but not when a redrive marks it. The same revision means an
   * unchanged row: a message that is parked again has none of the revisions of its earlier row.
   */
  readonly revision: number
  /**
   * Attempts that have begun since one last ended. If this is more than 0 in a row that can be reserved, a process died
   * with it.
   */
  readonly begun: number
  readonly parkedAt: Date
  /** When it was last tried, given up or released. */
  readonly changedAt: Date
  /** When it is due. Of a dead letter: when its last attempt ended. */
  readonly nextAt: Date
  /** The body as it was received, if an operator has edited it. */
  readonly originalBody: Uint8Array | undefined
  /** The last redrive that it was selected for, whether or not that redrive has ended. */
  readonly redrive: string | undefined
  /** Whether that redrive has released it. */
  readonly released: boolean
}

/** Identifies a row as it was when it was read. */
export interface ParkedTicket extends RecordKey {
  readonly revision: number
}

/** A reservation, and how many of its attempts count as begun. */
export interface ParkedBooking extends ParkedTicket {
  readonly begun: number
}

/** What becomes of a parked message after an attempt. */
export type ParkedChange = RecordKey &
  (
    | { readonly kind: 'done' }
    | ({ readonly kind: 'again'; readonly attempts: number; readonly delayMs: number } & ParkedReason)
    /** Given a `step`, it has that from now on: the highest one holds up no other handler of its message. */
    | ({ readonly kind: 'dead'; readonly attempts: number; readonly step?: number | undefined } & ParkedReason)
  )

/** Messages that wait for one handler. */
export interface WantedMessages {
  readonly handler: string
  /** `undefined` for any type. Another app may have a handler of the same name for another type. */
  readonly type: string | undefined
}

/** Which parked messages are wanted, and for how long they are reserved. */
export interface DueOptions {
  /** The most messages that are returned at once. */
  readonly limit: number
  /** The most bytes of messages that are returned at once. The first message is returned whatever its size. */
  readonly maxBytes: number
  /** How long the reserved messages are offered to no other process. */
  readonly forMs: number
  /** Listed because another process may know handlers that this one does not. */
  readonly wanted: readonly WantedMessages[]
  /** Handlers whose dead letters do not block later messages of their order key. */
  readonly pastDead: readonly string[]
  /** Given only in `BehindOptions`. */
  readonly behind?: undefined
}

/** Which messages behind a parked one of the same order key are wanted. */
export interface BehindOptions extends Pick<DueOptions, 'limit' | 'maxBytes' | 'forMs'> {
  /** A reserved row of an order key. */
  readonly behind: ParkedTicket
  /** Dead letters in between do not block. */
  readonly pastDead: boolean
}

/** One key of a handler that keeps order. */
export interface OrderScope {
  readonly handler: string
  readonly orderKey: string
  /** Dead letters do not block. */
  readonly pastDead: boolean
}

/** What to look for; all given fields must match. */
export interface ParkedFilter {
  /**
   * A row whose handler name begins with `!` is an intent: a call of an effect, which nothing may repeat except the one who runs it.
   * If it begins with `@`, it is a published message that waits for its time. All other rows are messages that have failed, or wait
   * for such. Default: `message`, so that whoever does not know the others neither finds nor changes one.
   */
  readonly kind?: 'message' | 'intent' | 'delayed' | 'any' | undefined
  readonly state?: 'waiting' | 'dead' | undefined
  readonly handler?: string | undefined
  readonly type?: string | undefined
  readonly source?: string | undefined
  readonly reason?: string | undefined
  readonly shape?: string | undefined
  readonly key?: string | undefined
  readonly messageId?: string | undefined
  readonly businessId?: string | undefined
  readonly orderKey?: string | undefined
  /** Text that occurs in a message of the error history, as an operator reads it there. */
  readonly errorText?: string | undefined
  /** By `changedAt`: at or after `since`, and before `before`. */
  readonly since?: Date | undefined
  readonly before?: Date | undefined
  /** Exactly these, if they match the rest. */
  readonly keys?: readonly RecordKey[] | undefined
  readonly redrive?: string | undefined
  readonly released?: boolean | undefined
  /** Not selected for any of these. */
  readonly notInRedrives?: readonly string[] | undefined
}

/** What an operator changes of a parked message. */
export type ParkedEdit =
  | { readonly kind: 'remove' }
  /** Replaces the message, and keeps the body that was received first. */
  | { readonly kind: 'replace'; readonly message: PackedMessage }
  /** Selects it for a redrive that has not released it yet. The revision stays the same: the mark does not affect an attempt. */
  | { readonly kind: 'mark'; readonly redrive: string }
  /** Starts over: waiting, due now, no attempts counted. The error history stays. */
  | { readonly kind: 'release' }

/** By which columns parked messages can be counted. */
export type TallyColumn = 'handler' | 'type' | 'reason' | 'shape' | 'state' | 'attempts' | 'released' | 'orderKey'

/** How many rows have these values, when the first of them was parked, and when the last of them was changed. */
export type Tally<By extends TallyColumn> = Pick<StoredParkedMessage, By> & {
  readonly count: number
} & ([By] extends [never] ? unknown : { readonly firstAt: Date; readonly lastAt: Date })

/** Waiting retries, dead letters, intents and delayed messages, one table, unique by (handler, key). Texts have at most 300 characters. */
export interface Parking<Tx> {
  /** Stores the messages. A row that already exists stays as it is (the same bad message came twice). */
  park(tx: Tx, messages: readonly NewParkedMessage[]): Promise<void>
  /**
   * Reserves up to `limit` due messages, those due longest first, except those that another transaction holds: postpones the
   * `nextAt` of each by `forMs`, in a transaction of its own that has committed when this resolves to the rows as they are then.
   * This does not begin an attempt. Concurrent calls do not wait for each other and do not get the same message.
   * Costs only a lookup when nothing is due.
   * A message is not due while an earlier step of it (same source, type and message id, lower `step`) is still parked, unless it
   * is independent; nor while another message of its order key (same handler) that was parked before it is still there, unless
   * that one is dead and its handler is one of `pastDead`. The database's clock decides what is due.
   * With `behind`, it reserves in the same way the messages directly behind that row, in the order in which they were parked: up
   * to the first that is not due, waits for an earlier step, is held by another transaction, or has a dead letter before it. It
   * reserves nothing if the row itself is no longer exactly as it was reserved.
   */
  reserve(options: DueOptions | BehindOptions): Promise<readonly StoredParkedMessage[]>
  /**
   * Makes reservations last `forMs` from now, or makes them due immediately if that is 0, with the given number of
   * attempts begun, in a transaction of its own that has committed when this resolves to the revision that each row has
   * now. `undefined` for a row that is no longer exactly as it was reserved, or is held by another transaction: it stays
   * as it is. Never waits.
   */
  rebook(bookings: readonly ParkedBooking[], forMs: number): Promise<readonly (number | undefined)[]>
  /**
   * Locks the rows for the rest of this transaction: true for each that is still exactly as it was reserved, false for one
   * that has changed, is gone, or is held by another transaction. Never waits.
   */
  take(tx: Tx, tickets: readonly ParkedTicket[]): Promise<readonly boolean[]>
  /**
   * Ends an attempt and resets `begun` to 0. `done` removes the row; `again` keeps it for another attempt, even if it was dead;
   * `dead` ends its attempts.
   */
  change(tx: Tx, changes: readonly ParkedChange[]): Promise<void>
  /**
   * Locks every given scope for the rest of this transaction, waiting for other transactions as a claim does, and then
   * checks whether a message of it is parked. One answer per scope. You may assume that scopes are sorted and distinct.
   */
  blocked(tx: Tx, scopes: readonly OrderScope[]): Promise<readonly boolean[]>
  /**
   * For operators and tests: in the order in which they were parked, those after the given `sequence`. The default limit
   * is 1,000. With `maxBytes`, returns only messages that begin within that many bytes, but always at least one: the
   * list has ended only when a page is empty.
   */
  list(
    filter?: ParkedFilter,
    page?: { readonly limit?: number; readonly after?: number; readonly maxBytes?: number },
  ): Promise<readonly StoredParkedMessage[]>
  /**
   * Counts the rows that match, one answer for each existing combination of the columns, the largest first; all of them
   * unless `limit` is given. Without columns it is just a count, and there is no answer if nothing matches.
   */
  tally<By extends TallyColumn>(filter: ParkedFilter, by: readonly By[], limit?: number): Promise<readonly Tally<By>[]>
  /**
   * Edits the rows that match, up to `limit`, the oldest first, except those that another transaction holds. Resolves to
   * their keys, in that order. Never waits.
   */
  edit(tx: Tx, filter: ParkedFilter, edit: ParkedEdit, limit: number): Promise<readonly RecordKey[]>
}
