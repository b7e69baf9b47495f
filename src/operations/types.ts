import type { Headers, InboxRecord, RecordKey } from '../contracts/index.ts'
import type { ReservationState } from '../facts/index.ts'
import type { IntentKey, IntentOperations } from './intent-types.ts'
import type { MessageOperations } from './message-types.ts'
import type { AlertView, HandlerOperations, Overview, OverviewOptions, ProcessView } from './monitoring-types.ts'
import type { OutgoingOperations } from './outgoing-types.ts'

/** Identifies dead letters with the same cause. */
export interface LetterGroup {
  readonly handler: string
  readonly reason: string
  readonly shape: string
}

/** A parked message as operators see it. */
export interface ParkedView extends RecordKey {
  /** Its place in the list; pass it as `after` to get the next page. */
  readonly sequence: number
  readonly messageId: string
  readonly type: string
  readonly source: string
  /** The code that says why it is parked. */
  readonly reason: string
  readonly attempts: number
  /** Oldest first. */
  readonly errors: readonly { readonly at: Date; readonly message: string }[]
  readonly parkedAt: Date
  readonly headers: Headers
  /** The parsed JSON; text if it is not JSON, bytes if it is not text either. */
  readonly body: unknown
  readonly orderKey: string | undefined
  /** Set if its app has `businessId`. */
  readonly businessId: string | undefined
  /** The running redrive that includes it. */
  readonly redrive: string | undefined
  readonly edited: boolean
  /** The body as it was received, if an operator has edited it. */
  readonly originalBody?: unknown
}

/** A message that is not retried automatically. */
export interface DeadLetter extends ParkedView {
  readonly diedAt: Date
  readonly group: LetterGroup
}

/** A message that waits for its next attempt, or for an earlier handler or message. */
export interface WaitingRetry extends ParkedView {
  /** When it is due, by the database's clock. While an attempt is running: when other processes may take it over. */
  readonly nextAt: Date
  /** When it was last tried or released. */
  readonly changedAt: Date
  /** Attempts that have begun and not ended: it is being tried, or a process died with it. */
  readonly begun: number
}

/** What to look for; all given fields must match. */
export interface LetterFilter {
  readonly handler?: string | undefined
  readonly type?: string | undefined
  readonly reason?: string | undefined
  /** Text that occurs in the error history. */
  readonly errorText?: string | undefined
  /** By the time of death, or of the last attempt: at or after `since`, and before `before`. */
  readonly since?: Date | undefined
  readonly before?: Date | undefined
  readonly key?: string | undefined
  readonly messageId?: string | undefined
  /** What the `businessId` of its app made of the message. */
  readonly businessId?: string | undefined
  readonly orderKey?: string | undefined
  readonly source?: string | undefined
  readonly group?: LetterGroup | undefined
}

/** One message, a list of them, those that match a filter, or all. A filter without any field is refused. */
export type LetterSelection = RecordKey | readonly RecordKey[] | LetterFilter | 'all'

/** How many dead letters have the same cause, and the note about them. */
export interface CountedGroup extends LetterGroup {
  readonly count: number
  /** When the first of them was parked. */
  readonly firstAt: Date
  /** When the last of them became a dead letter. */
  readonly lastAt: Date
  readonly note: string | undefined
}

/** Which part of a list to return. */
export interface Page {
  readonly limit?: number | undefined
  /** The `sequence` of the last one seen. */
  readonly after?: number | undefined
}

/** Who does it, and why. Kept permanently. */
export interface WhoAndWhy {
  /** The person or the program that does it. */
  readonly by: string
  /** The reason, for whoever reads the audit log later. */
  readonly why?: string | undefined
}

/** Who discards messages, why, and who hears how far it is. */
export interface DiscardOptions extends WhoAndWhy {
  /** Called after each step with how many are gone so far: a selection by a filter is discarded a thousand at a time. */
  readonly progress?: ((discarded: number) => void) | undefined
}

/** Who redrives dead letters, why, and how carefully. */
export interface RedriveOptions extends WhoAndWhy {
  /** How many go first. The others follow when all of these have succeeded, and stay dead if one has not. */
  readonly canary?: number | undefined
  /** The most that are released per second. Default: as fast as they can be handled. */
  readonly perSecond?: number | undefined
  /** The redrive stops when more than this many have failed again. Default: 10. */
  readonly stopAfterFailures?: number | undefined
  /** Another body for exactly one dead letter: a value, encoded as JSON, or bytes. Its id and headers stay the same. */
  readonly body?: unknown
}

/** What a redrive would do, without doing it. */
export interface RedrivePreview {
  readonly letters: number
  /**
   * How many messages each handler would be given, including those that wait behind a dead letter for an earlier handler.
   * If the handlers are not known, dead letters that reached none are counted under `-`.
   */
  readonly wouldRun: Readonly<Record<string, number>>
  /**
   * How many of these messages other handlers have already processed: those handlers do not run again. Handlers without
   * records (`at-least-once`) are never listed. `undefined` if the handlers are not known: ask through `app.operations`.
   */
  readonly alreadyDone: Readonly<Record<string, number>> | undefined
  /** Dead letters so old that nobody can know whether they were processed. They would run anyway. */
  readonly tooOld: number
  /** Dead letters whose expiry has passed: they would only be skipped, or become dead letters again. */
  readonly expired: number
}

/** A redrive as it was asked for. */
export interface RedriveSettings {
  readonly id: string
  readonly by: string
  readonly why: string
  /** How many are tried before the others; 0 for none. */
  readonly canary: number
  readonly perSecond: number | undefined
  /** The redrive stops when more than this many have failed again. */
  readonly stopAfterFailures: number
}

/** A redrive and how far it has come. */
export interface Redrive extends RedriveSettings {
  readonly state: 'running' | 'finished' | 'stopped'
  readonly selected: number
  readonly startedAt: Date
  readonly endedAt: Date | undefined
  /** Its progress when it ended. */
  readonly reached: RedriveProgress | undefined
}

/** Counted from the current state of the rows. Everything that was selected and is not counted here has succeeded. */
export interface RedriveProgress {
  /** Not released yet. */
  readonly unreleased: number
  /** Released, and not tried since. */
  readonly untried: number
  /** Released, and failed at least once since; waiting or dead again. */
  readonly failed: number
}

/** The progress of a redrive, now or when it ended. Messages that were waiting when it ended may have succeeded since. */
export interface RedriveStatus extends Redrive, RedriveProgress {
  readonly succeeded: number
}

/** An operator's action. */
export interface AuditedAction {
  /** `unreadable`: the entry was changed by hand, and `subject` is all that is left of it. */
  readonly action:
    | 'pause'
    | 'resume'
    | 'redrive'
    | 'stop-redrive'
    | 'discard'
    | 'edit'
    | 'annotate'
    | 'cancel'
    | 'forget'
    | 'forget-schedule'
    | 'retry'
    | 'resolve'
    | 'remove-records'
    | 'repair-horizon'
    | 'new-epoch'
    | 'unreadable'
  readonly by: string
  readonly why: string
  readonly at: Date
  /** What it was done to; text if it cannot be read. */
  readonly subject: unknown
}

/** What operators do with dead letters. Every change is audited in the same transaction. */
export interface LetterOperations {
  /**
   * In the order in which they were parked: 100 by default, at most 1,000 at a time, and fewer if they are large: only
   * those that begin within 16 MiB. The list has ended when a page is empty.
   */
  list(filter?: LetterFilter, page?: Page): Promise<readonly DeadLetter[]>
  get(key: RecordKey): Promise<DeadLetter | undefined>
  /** Dead letters grouped by cause, the largest groups first. */
  groups(filter?: LetterFilter, limit?: number): Promise<readonly CountedGroup[]>
  /**
   * How many each handler has. Those that a destination has refused are counted under `>` and its name, those that reached no handler
   * under `-`: these are what a filter calls their handler, too.
   */
  counts(): Promise<Readonly<Record<string, number>>>
  /** Stores a note for a group, which stays when its dead letters are gone. An empty note removes it. */
  annotate(group: LetterGroup, note: string, whoAndWhy: WhoAndWhy): Promise<void>
  preview(selection: LetterSelection): Promise<RedrivePreview>
  /**
   * Gives dead letters new attempts: only handlers that have not succeeded run, under the same id. The selection is
   * fixed when the redrive starts. Any started app of the store drives it, and another one continues if that app ends.
   */
  redrive(
    selection: LetterSelection,
    options: RedriveOptions,
  ): Promise<{ readonly id: string; readonly selected: number }>
  /**
   * Gives dead letters up for good; resolves to how many. Late copies of them are duplicates, and what waits behind
   * them, including later handlers, goes on.
   */
  discard(selection: LetterSelection, options: DiscardOptions): Promise<number>
  /** Latest first. */
  redrives(limit?: number): Promise<readonly Redrive[]>
  redriveStatus(id: string): Promise<RedriveStatus>
  /** What was already released goes on. False if the redrive had already ended. */
  stopRedrive(id: string, whoAndWhy: WhoAndWhy): Promise<boolean>
}

/** What operators ask about messages that wait for another attempt, and do with them. */
export interface RetryOperations {
  /** In pages, like dead letters. */
  list(filter?: LetterFilter, page?: Page): Promise<readonly WaitingRetry[]>
  get(key: RecordKey): Promise<WaitingRetry | undefined>
  /**
   * Makes them due now; resolves to how many. Skips messages that are being tried, are in a redrive, or change
   * meanwhile. Their attempts stay counted, and messages that wait for an earlier handler or message keep waiting for
   * it.
   */
  retryNow(selection: LetterSelection, whoAndWhy: WhoAndWhy): Promise<number>
  /**
   * Gives them up for good, as `letters.discard` does with dead letters; resolves to how many. Skips messages that are being tried
   * at this moment.
   */
  discard(selection: LetterSelection, options: DiscardOptions): Promise<number>
}

/** How far a schedule is. */
export interface ScheduleStatus {
  readonly name: string
  /** The type of its messages. */
  readonly type: string
  /** Its times: a cron expression with its time zone, or `every … ms`. */
  readonly times: string
  /** The last tick for which there was a message. */
  readonly lastTick: Date | undefined
  /** The next tick. One that has passed by more than a minute: no process with this schedule is running. */
  readonly nextTick: Date
}

/** What operators ask about schedules, and do with them. */
export interface ScheduleOperations {
  /** Those that a process has had, by name. A schedule that is gone from the code stays for some months. */
  list(): Promise<readonly ScheduleStatus[]>
  /** Forgets how far the schedules of this name are; false if there is none. A process that has one begins anew. */
  forget(name: string, whoAndWhy: WhoAndWhy): Promise<boolean>
}

/** Where reservations stand. Those that have ended can be read for a week. */
export interface ReservationOperations {
  /** Those that changed last come first. */
  list(limit?: number): Promise<readonly ReservationView[]>
  /**
   * By its name and the key that was given to `intend`, or by the idempotency key of its intent. Of those that have ended, the 1,000
   * that changed last are found by name and key. `undefined` if it has not begun.
   */
  get(which: IntentKey | string): Promise<ReservationView | undefined>
}

/** Where a reservation stands: its decision, and the state of each participant. */
export interface ReservationView extends Omit<ReservationState, 'triedSince'> {
  /** When its participants were first tried, if they could not be set aside at once. Its `timeoutMs` counts from then. */
  readonly triedSince?: Date
  readonly changedAt: Date
}

/** The records of processed messages. */
export interface RecordOperations {
  find(key: RecordKey): Promise<InboxRecord | undefined>
  /**
   * Removes the record of a message on purpose: its next copy runs again. False if there was none. Refused for a parked
   * message.
   */
  forget(key: RecordKey, whoAndWhy: WhoAndWhy): Promise<boolean>
}

/** What operators ask and do. Every error arrives as a rejection, including that a store cannot do it (`STORE_CANNOT`). */
export interface Operations {
  readonly letters: LetterOperations
  readonly retries: RetryOperations
  readonly outgoing: OutgoingOperations
  readonly schedules: ScheduleOperations
  readonly intents: IntentOperations
  readonly records: RecordOperations
  readonly handlers: HandlerOperations
  readonly messages: MessageOperations
  /** The processes that are alive, those that started last first. */
  processes(): Promise<readonly ProcessView[]>
  /** Everything that runs on the store, on one page. */
  overview(options?: OverviewOptions): Promise<Overview>
  /** The alerts of all apps that are not quiet, as they were when somebody last looked, latest change first. */
  alerts(): Promise<readonly AlertView[]>
  readonly reservations: ReservationOperations
  /** The actions of operators, latest first. */
  audit(limit?: number): Promise<readonly AuditedAction[]>
}
