import type { Cause, Headers, QueueCount, RecordKey } from '../contracts/index.ts'
import type { Page, WhoAndWhy } from './types.ts'

/**
 * What operators ask about messages that were published and are not sent yet. Messages that a broker refused for good are dead
 * letters.
 */
export interface OutgoingOperations {
  /** How many messages wait for each destination that has any, whichever app published them. */
  waiting(): Promise<Readonly<Record<string, QueueCount>>>
  /**
   * What waits for one destination, in the order in which it was published: 100 by default, at most 1,000 at a time. Looking takes
   * nothing away from those who send. The list has ended when a page is empty.
   */
  list(destination: string, page?: OutgoingPage): Promise<readonly OutgoingView[]>
  /** Messages that were published with a delay and wait for their time, in the order in which they were published, in pages. */
  delayed(filter?: DelayedFilter, page?: Page): Promise<readonly DelayedMessage[]>
  /** Cancels a delayed message by its id. False if there is none: it is on its way, was cancelled before, or never existed. */
  cancel(id: string, whoAndWhy: WhoAndWhy): Promise<boolean>
}

/** Which part of what waits for a destination to return. */
export interface OutgoingPage {
  readonly limit?: number | undefined
  /** The `place` of the last one seen. */
  readonly after?: string | undefined
}

/**
 * A published message that has not left. `waiting`: it is sent as soon as its destination takes it. `delayed`: it waits for its time.
 * `refused`: a dead letter, because its destination refused it for good.
 */
export interface OutgoingView {
  readonly id: string
  readonly type: string
  /** `queue:` and a name if it goes to a queue of this store. */
  readonly destination: string
  readonly key: string | undefined
  readonly state: 'waiting' | 'delayed' | 'refused'
  readonly publishedAt: Date
  /** How often sending it has begun. */
  readonly attempts: number
  /** When it leaves, if it is delayed. */
  readonly dueAt: Date | undefined
  /** Why its destination refused it last, if that is kept. */
  readonly error?: string | undefined
  readonly businessId?: string | undefined
  /** The call of a handler that published it; `undefined` if it was no handler. */
  readonly causedBy?: Cause | undefined
  /** Its parked row, if it has one. */
  readonly letter?: RecordKey | undefined
  /** Its place among what waits; pass it as `after` to get the next page. */
  readonly place?: string | undefined
  readonly headers: Headers
  /** The parsed JSON; text if it is not JSON, bytes if it is not text either. */
  readonly body: unknown
}

/** What to look for; all given fields must match. */
export interface DelayedFilter {
  readonly id?: string | undefined
  readonly type?: string | undefined
  readonly businessId?: string | undefined
}

/** A published message that waits for its time. */
export interface DelayedMessage {
  /** Its place in the list; pass it as `after` to get the next page. */
  readonly sequence: number
  readonly id: string
  readonly type: string
  /** Where it goes then; `queue:` and a name if that is a queue of this store. */
  readonly destination: string
  readonly key: string | undefined
  /** When it leaves, by the database's clock. */
  readonly dueAt: Date
  readonly publishedAt: Date
  readonly headers: Headers
  /** The parsed JSON; text if it is not JSON, bytes if it is not text either. */
  readonly body: unknown
}
