import type { Cause, Headers, RecordKey } from '../contracts/index.ts'
import type { DuplicateOfProcess, Pause, RunningCall } from '../facts/index.ts'
import type { OutgoingPage, OutgoingView } from './outgoing-types.ts'
import type { AuditedAction, Page, Redrive } from './types.ts'

/**
 * - `running`: a process is handling it now.
 * - `waiting`: it is parked until its next attempt, or waits for another handler, message or time.
 * - `dead`: a dead letter.
 * - `queued`: it is in a queue of the store, and not done there: nobody has taken it yet, or somebody is at it now.
 * - `outgoing`: a handler or an app has published it, and it has not left yet.
 * - `processed`, `expired`, `discarded`: its record says so.
 */
export type MessageState =
  | 'running'
  | 'waiting'
  | 'dead'
  | 'queued'
  | 'outgoing'
  | 'processed'
  | 'expired'
  | 'discarded'

/** What to look for; all given fields must match. */
export interface MessageFilter {
  /** The message's own id. */
  readonly id?: string | undefined
  /** What its handler identifies it by: the id, or what `identify()` returns, such as a business id. */
  readonly key?: string | undefined
  /** What the `businessId` of its app made of it. Records do not keep that, so processed messages are found by `key` instead. */
  readonly businessId?: string | undefined
  readonly type?: string | undefined
  readonly handler?: string | undefined
  readonly state?: MessageState | undefined
  /** By the last attempt, or by when it was processed: at or after `since`, and before `before`. */
  readonly since?: Date | undefined
  readonly before?: Date | undefined
  /** Text that occurs in the error history. */
  readonly errorText?: string | undefined
}

/** A message for one handler. */
export interface FoundMessage extends RecordKey {
  /** `undefined` if only a record is left, which does not say it. */
  readonly messageId: string | undefined
  readonly type: string | undefined
  readonly businessId?: string | undefined
  readonly state: MessageState
  /** When it reached this state. */
  readonly at: Date
  /** Why it is parked, and its last error. */
  readonly reason?: string | undefined
  readonly error?: string | undefined
  readonly attempts?: number | undefined
  /** When its next attempt is due. */
  readonly nextAt?: Date | undefined
  /** Its place in the list if it is parked; pass the last one as `after` to get the next page. */
  readonly sequence?: number | undefined
}

/** What is known of a message for one handler. */
export interface HandlerStory extends FoundMessage {
  /** JSON text, for handlers that keep their result. */
  readonly result?: string | undefined
  /** When it was parked first. */
  readonly parkedAt?: Date | undefined
  /** Oldest first. */
  readonly errors: readonly { readonly at: Date; readonly message: string }[]
  /** Where it is running. */
  readonly running?:
    | (RunningCall & { readonly process: string; readonly host: string; readonly pid: number })
    | undefined
  /** The message of its key that was parked first and has to end before this one is tried, if it is another one. */
  readonly behind?: (RecordKey & Pick<FoundMessage, 'messageId' | 'state' | 'reason'>) | undefined
  /** Set if its handler is paused: then it is not tried, whatever else is said. */
  readonly paused?: Pause | undefined
  /** The redrive that it is part of, if that is running. */
  readonly redrive?: Redrive | undefined
}

/** Everything that is known of one message. What was acknowledged and never parked is known only by its records. */
export interface MessageStory {
  readonly id: string
  readonly type: string | undefined
  readonly source: string | undefined
  readonly businessId: string | undefined
  /** The call of a handler that published it, if it is one of those that have not left. */
  readonly causedBy: Cause | undefined
  /** The message itself, if it is parked. */
  readonly message:
    | { readonly headers: Headers; readonly body: unknown; readonly originalBody?: unknown; readonly edited: boolean }
    | undefined
  /** One entry for each handler that knows it, those that have not succeeded first. */
  readonly handlers: readonly HandlerStory[]
  /** Calls outside that its handlers intended and that have not ended, and the one whose own id this is. At most 1,000. */
  readonly intents: readonly FoundMessage[]
  /** What its handlers have published and has not left: waiting, delayed or refused. What has left is not known any more. */
  readonly outgoing: readonly OutgoingView[]
  /** False if more is waiting for destinations than was looked at: the 1,000 oldest of each. */
  readonly isOutgoingComplete: boolean
  /** Set if it was published and waits for a destination to take it. */
  readonly waitsFor: { readonly destination: string; readonly since: Date; readonly attempts: number } | undefined
  /** Set if no handler knows it because it is still in a queue of the store. `deliveries`: how often it was taken. */
  readonly inQueue: { readonly queue: string; readonly since: Date; readonly deliveries: number } | undefined
  /** Set if it was published with a delay and has not left yet. */
  readonly leavesAt: Date | undefined
  /** Copies that arrived, latest first, as far as processes remember: each the last 300 of the last 24 hours. */
  readonly duplicates: readonly DuplicateOfProcess[]
  /** What operators did to it, latest first; of the last 1,000 actions. */
  readonly actions: readonly AuditedAction[]
}

/** What operators ask about single messages. */
export interface MessageOperations {
  /**
   * Messages that are running, then those that are known by a record, then those that are parked, in the order in which they were
   * parked. Records are found by `id` or `key` only: there is no index by time or type. Messages in
   * queues of the store and on their way out are listed if they are asked for by `id`, `businessId` or `state`, of each queue and destination
   * among the 1,000 oldest, on the first page only: `queued` and `outgoing.list` list all of them. The list has ended when a page is empty.
   */
  find(filter?: MessageFilter, page?: Page): Promise<readonly FoundMessage[]>
  /**
   * What is in a queue of the store, taken or not, in the order in which it came: 100 by default, at most 1,000 at a time. Looking takes
   * nothing away from those who read it. The list has ended when a page is empty.
   */
  queued(queue: string, page?: OutgoingPage): Promise<readonly OutgoingView[]>
  /** Everything that is known of one message; `undefined` if nothing is. */
  story(id: string): Promise<MessageStory | undefined>
}
