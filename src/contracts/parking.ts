import type { RecordKey } from './inbox.ts'

/** A message in the form in which stores keep it: two opaque byte strings, so that nothing in it can break a statement. */
export interface PackedMessage {
  /** Everything but the body; see encoding/packed-message.ts. */
  readonly envelope: Uint8Array
  readonly body: Uint8Array
}

/** Why a message is parked. Cleaned of what a database refuses, and cut. */
export interface ParkedReason {
  /** The catalogue code. */
  readonly reason: string
  /** JSON text: an array of `{ at, message }`, oldest first. */
  readonly errors: string
  /** The last error on one line, with what varies from message to message taken out: those of one shape are one group. */
  readonly shape: string
}

/** A message that is kept until its next attempt, or for a person. The parked row is its only owner. */
export interface ParkedMessage extends RecordKey, ParkedReason {
  readonly messageId: string
  readonly type: string
  readonly source: string
  readonly message: PackedMessage
  /** `waiting` has a next attempt; `dead` is a dead letter. */
  readonly state: 'waiting' | 'dead'
  readonly attempts: number
  /** Position of the handler among the handlers of its type: a later handler waits while an earlier one is parked. */
  readonly step: number
  /** It waits for no earlier step. */
  readonly independent: boolean
  /** The key whose order its handler keeps: of one (handler, order key) only the message that was parked first is ever due. */
  readonly orderKey: string | undefined
}

/** `delayMs` counts from the database's now, so that processes with different clocks agree. */
export interface NewParkedMessage extends ParkedMessage {
  readonly delayMs: number
}

export interface StoredParkedMessage extends ParkedMessage {
  /** Grows from row to row, also across handlers; a place in a list to go on from. */
  readonly sequence: number
  /** Grows with every change of the row, a reservation included, but not with the mark of a redrive: whoever knows it knows the row. */
  readonly revision: number
  /** Attempts that have begun since one last ended. More than none in a row that can be reserved: somebody died with it. */
  readonly begun: number
  readonly parkedAt: Date
  /** When it was last tried, given up or released. */
  readonly changedAt: Date
  readonly nextAt: Date
  /** The body as it was received, where a person has edited it. */
  readonly originalBody: Uint8Array | undefined
  /** The last redrive that it was selected for, whether or not that has ended. */
  readonly redrive: string | undefined
  /** That redrive has given it another life. */
  readonly released: boolean
}

/** Names a row as it was when it was read. */
export interface ParkedTicket extends RecordKey {
  readonly revision: number
}

/** A reservation, and how many attempts of it are to count as begun. */
export interface ParkedBooking extends ParkedTicket {
  readonly begun: number
}

export type ParkedChange = RecordKey &
  (
    | { readonly kind: 'done' }
    | ({ readonly kind: 'again'; readonly attempts: number; readonly delayMs: number } & ParkedReason)
    | ({ readonly kind: 'dead'; readonly attempts: number } & ParkedReason)
  )

/** Messages that wait for one handler. */
export interface WantedMessages {
  readonly handler: string
  /** Undefined: whatever their type. Another app may have a handler of the same name for another one. */
  readonly type: string | undefined
}

export interface DueOptions {
  readonly limit: number
  /** The most bytes of messages that are answered at once. The first one is answered whatever its size. */
  readonly maxBytes: number
  /** How long nobody else is offered what is reserved. */
  readonly forMs: number
  /** Named because another process may know handlers that this one does not. */
  readonly wanted: readonly WantedMessages[]
  /** Handlers whose dead letters do not hold up later messages of their order key. */
  readonly pastDead: readonly string[]
  readonly behind?: undefined
}

export interface BehindOptions extends Pick<DueOptions, 'limit' | 'maxBytes' | 'forMs'> {
  /** A reserved row of an order key. */
  readonly behind: ParkedTicket
  /** Dead letters between them hold nobody up. */
  readonly pastDead: boolean
}

/** One key of a handler that keeps order. */
export interface OrderScope {
  readonly handler: string
  readonly orderKey: string
  /** Dead letters hold nobody up. */
  readonly pastDead: boolean
}

/** What to look for; everything given must fit. */
export interface ParkedFilter {
  readonly state?: 'waiting' | 'dead' | undefined
  readonly handler?: string | undefined
  readonly type?: string | undefined
  readonly source?: string | undefined
  readonly reason?: string | undefined
  readonly shape?: string | undefined
  readonly key?: string | undefined
  readonly messageId?: string | undefined
  readonly orderKey?: string | undefined
  /** Occurs in a message of the error history, as a person reads it there. */
  readonly errorText?: string | undefined
  /** By `changedAt`: from this moment on, and before that one. */
  readonly since?: Date | undefined
  readonly before?: Date | undefined
  /** Exactly these, where they fit the rest. */
  readonly keys?: readonly RecordKey[] | undefined
  readonly redrive?: string | undefined
  readonly released?: boolean | undefined
  /** It is selected for none of these. */
  readonly notInRedrives?: readonly string[] | undefined
}

export type ParkedEdit =
  | { readonly kind: 'remove' }
  /** Puts another message in its place, and keeps the body that was received first. */
  | { readonly kind: 'replace'; readonly message: PackedMessage }
  /** Selects it for a redrive that has not released it yet. The revision stays: an attempt has nothing to do with the mark. */
  | { readonly kind: 'mark'; readonly redrive: string }
  /** Another life: waiting, due now, no attempts counted. The history of its errors stays. */
  | { readonly kind: 'release' }

export type TallyColumn = 'handler' | 'type' | 'reason' | 'shape' | 'state' | 'attempts' | 'released'

/** How many rows have these values; when the first of them was parked, and when the last of them was changed. */
export type Tally<By extends TallyColumn> = Pick<StoredParkedMessage, By> & {
  readonly count: number
} & ([By] extends [never] ? unknown : { readonly firstAt: Date; readonly lastAt: Date })

/** Waiting retries and dead letters, one table, unique by (handler, key). Texts have at most 300 characters. */
export interface Parking<Tx> {
  /** Stores them; a row that is there already stays as it is (the same bad message came twice). */
  park(tx: Tx, messages: readonly NewParkedMessage[]): Promise<void>
  /**
   * Reserves up to `limit` due messages, those due longest first, without those that another transaction holds: puts the
   * `nextAt` of each off by `forMs`, in a transaction of its own that has committed when this resolves to the rows as they
   * are then. No attempt has begun by that. Rivals do not wait for each other and do not get the same message.
   * Costs nothing but a look when nothing is due.
   * Not due is a message whose earlier step (same source, type and message id, lower `step`) is still parked, unless it
   * is independent; and one of whose order key (same handler) another was parked before and is still there, unless that
   * is dead and its handler one of `pastDead`. Due is decided by the database's clock.
   * With `behind`, it reserves in the same way those that stand directly behind that row, in the order in which they were parked:
   * up to the first that is not due, waits for an earlier step, is held by another, or has a dead letter before it. Nothing
   * when the row itself is no longer exactly as it was reserved.
   */
  reserve(options: DueOptions | BehindOptions): Promise<readonly StoredParkedMessage[]>
  /**
   * Makes reservations last `forMs` from now, 0 to have them due at once, with so many attempts begun as given, in a
   * transaction of its own that has committed when this resolves to the revision that each has now. Undefined for one that
   * is no longer exactly as it was reserved, or is held by another: that stays as it is. Never waits.
   */
  rebook(bookings: readonly ParkedBooking[], forMs: number): Promise<readonly (number | undefined)[]>
  /**
   * Locks them for the rest of this transaction: true for each that is still exactly as it was reserved, false for one that
   * has changed, is gone, or is held by another. Never waits.
   */
  take(tx: Tx, tickets: readonly ParkedTicket[]): Promise<readonly boolean[]>
  /** An attempt has ended, and `begun` is 0 again. `done` removes the row; `again` keeps it for another attempt, also one that was dead; `dead` ends its attempts. */
  change(tx: Tx, changes: readonly ParkedChange[]): Promise<void>
  /**
   * Locks every given scope for the rest of this transaction, waiting for rivals as a claim does, and then looks whether
   * a message of it is parked. One answer each. You may assume that scopes are sorted and distinct.
   */
  blocked(tx: Tx, scopes: readonly OrderScope[]): Promise<readonly boolean[]>
  /**
   * For people and tests: in the order in which they were parked, those after the given place. 1,000 unless told, and of
   * `maxBytes` of messages no more than begin within them, but always one: it is the end only when there are none.
   */
  list(
    filter?: ParkedFilter,
    page?: { readonly limit?: number; readonly after?: number; readonly maxBytes?: number },
  ): Promise<readonly StoredParkedMessage[]>
  /**
   * Counts those that fit, one answer for each combination of the columns that there is, the largest first, all
   * unless told. Without columns it is a mere count, and there is no answer where nothing fits.
   */
  tally<By extends TallyColumn>(filter: ParkedFilter, by: readonly By[], limit?: number): Promise<readonly Tally<By>[]>
  /**
   * Edits those that fit, up to `limit`, the oldest first, without those that another transaction holds. Resolves to their
   * keys, in that order. Never waits.
   */
  edit(tx: Tx, filter: ParkedFilter, edit: ParkedEdit, limit: number): Promise<readonly RecordKey[]>
}
