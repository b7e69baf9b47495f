import type { Resolution } from './resolve-intent.ts'
import type { Page, WhoAndWhy } from './types.ts'

export type { IntentDone, IntentFailed } from './outcome-message.ts'
export type { Resolution }

/**
 * - `pending`: not called yet.
 * - `running`: being called.
 * - `waiting`: a call failed and changed nothing; it is called again.
 * - `unknown`: nobody knows whether a call has happened. `needsPerson` says whether anything but a person can settle it.
 * - `given-up`: it did not happen, and is not called again by itself.
 */
export type IntentState = 'pending' | 'running' | 'waiting' | 'unknown' | 'given-up'

/** Which intended call: the effect and the key of the intent. */
export interface IntentKey {
  readonly effect: string
  readonly key: string
}

/** An intent as operators see it. */
export interface IntentView extends IntentKey {
  readonly idempotencyKey: string
  readonly state: IntentState
  /** The id of the message whose handler intended it, or the key that the handler identifies it by; `undefined` if it was no handler. */
  readonly causedBy: string | undefined
  /** That of the message whose handler intended it, if the app has `businessId`. */
  readonly businessId: string | undefined
  /** Nothing more happens to it until somebody resolves it. */
  readonly needsPerson: boolean
  /** The parsed JSON; text if it is not JSON, bytes if it is not text either. */
  readonly payload: unknown
  /** Calls that have begun. */
  readonly attempts: number
  /** Oldest first; what a provider was asked is among them. */
  readonly errors: readonly { readonly at: Date; readonly message: string }[]
  readonly intendedAt: Date
  readonly changedAt: Date
  /** When it is called, asked about, or taken over from a process that has died, by the database's clock. */
  readonly nextAt: Date | undefined
  /** Its place in the list; pass it as `after` to get the next page. */
  readonly sequence: number
}

/** How many intents of an effect there are. Those that are being called count as what they were before. */
export interface IntentCounts {
  readonly pending: number
  readonly waiting: number
  readonly unknown: number
  /** Of the unknown and given up ones: those that wait for a person. */
  readonly needsPerson: number
  readonly givenUp: number
  /** When the oldest of all was intended. */
  readonly oldest: Date
}

/** Selects intended calls; what is not given matches everything. */
export interface IntentFilter {
  readonly effect?: string | undefined
  readonly state?: IntentState | undefined
  /** Only those that wait for a person; if false, only the others. */
  readonly needsPerson?: boolean | undefined
  readonly key?: string | undefined
  readonly idempotencyKey?: string | undefined
  /** That of the message whose handler intended it. */
  readonly businessId?: string | undefined
  /** By the last change: at or after `since`, and before `before`. */
  readonly since?: Date | undefined
  readonly before?: Date | undefined
}

/** What operators ask about intents, and do with them. Those that are done have only a record: `records.find` has the result. */
export interface IntentOperations {
  /** In the order in which they were intended: 100 by default, at most 1,000 at a time. The list has ended when a page is empty. */
  list(filter?: IntentFilter, page?: Page): Promise<readonly IntentView[]>
  get(key: IntentKey): Promise<IntentView | undefined>
  /** By effect. */
  counts(): Promise<Readonly<Record<string, IntentCounts>>>
  /**
   * Says what nobody else can know. `done`: it happened, with this result. `again`: it is called once more, and its attempts go on counting; for a
   * call without an idempotency key only if the provider has certainly not done it. `discarded`: nobody calls it any more. Refused
   * while it is being called. Audited in the same transaction. Of a reservation that has begun, participants hold something: `discarded`
   * cancels it, unless it is to be confirmed, and `done` is refused (`RESERVATION_UNDER_WAY`).
   */
  resolve(key: IntentKey, resolution: Resolution, whoAndWhy: WhoAndWhy): Promise<void>
}
