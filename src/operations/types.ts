import type { Headers, InboxRecord, QueueCount, RecordKey } from '../contracts/index.ts'

/** Dead letters that died of the same thing. */
export interface LetterGroup {
  readonly handler: string
  readonly reason: string
  readonly shape: string
}

/** A parked message as people see it. */
export interface ParkedView extends RecordKey {
  /** Its place in the list, to go on after. */
  readonly sequence: number
  readonly messageId: string
  readonly type: string
  readonly source: string
  /** The code of why it is parked. */
  readonly reason: string
  readonly attempts: number
  /** Oldest first. */
  readonly errors: readonly { readonly at: Date; readonly message: string }[]
  readonly parkedAt: Date
  readonly headers: Headers
  /** What its JSON says; text where it is no JSON, bytes where it is no text either. */
  readonly body: unknown
  readonly orderKey: string | undefined
  /** The running redrive that has it. */
  readonly redrive: string | undefined
  readonly edited: boolean
  /** The body as it was received, where a person has edited it. */
  readonly originalBody?: unknown
}

/** A message that gets no further attempt by itself. */
export interface DeadLetter extends ParkedView {
  readonly diedAt: Date
  readonly group: LetterGroup
}

/** A message that waits for its next attempt, or for what is before it. */
export interface WaitingRetry extends ParkedView {
  /** When it is due, by the database's clock. While an attempt is running: when others may take it over. */
  readonly nextAt: Date
  /** When it was last tried or released. */
  readonly changedAt: Date
  /** Attempts that have begun and not ended: it is being tried, or a process died with it. */
  readonly begun: number
}

/** What to look for; everything given must fit. */
export interface LetterFilter {
  readonly handler?: string | undefined
  readonly type?: string | undefined
  readonly reason?: string | undefined
  /** Occurs in the error history. */
  readonly errorText?: string | undefined
  /** By the time of death, or of the last attempt: from this moment on, and before that one. */
  readonly since?: Date | undefined
  readonly before?: Date | undefined
  readonly key?: string | undefined
  readonly messageId?: string | undefined
  readonly orderKey?: string | undefined
  readonly source?: string | undefined
  readonly group?: LetterGroup | undefined
}

/** One message, a list of them, those that fit a filter, or every one. A filter without any field is refused. */
export type LetterSelection = RecordKey | readonly RecordKey[] | LetterFilter | 'all'

/** How many letters died of the same thing, and what somebody has written about them. */
export interface CountedGroup extends LetterGroup {
  readonly count: number
  /** When the first of them was parked. */
  readonly firstAt: Date
  /** When the last of them was given up. */
  readonly lastAt: Date
  readonly note: string | undefined
}

/** Where a list goes on. */
export interface Page {
  readonly limit?: number | undefined
  /** The `sequence` of the last one seen. */
  readonly after?: number | undefined
}

/** Who does it, and why; kept for good. */
export interface Signature {
  readonly by: string
  readonly why?: string | undefined
}

export interface RedriveOptions extends Signature {
  /** So many go first; the others follow when all of these have succeeded, and stay dead when one has not. */
  readonly canary?: number | undefined
  /** The most that are given another life in a second. As fast as they can be handled if not given. */
  readonly perSecond?: number | undefined
  /** It stops when more than these have failed again. 10 if not given. */
  readonly stopAfterFailures?: number | undefined
  /** Another body for exactly one letter: a value, encoded as JSON, or bytes. Its id and headers stay. */
  readonly body?: unknown
}

/** What a redrive would do, without doing it. */
export interface RedrivePreview {
  readonly letters: number
  /**
   * How many messages each handler would be given, those included that wait behind a letter for an earlier handler. Where
   * handlers are not known, letters that reached none are counted under `-`.
   */
  readonly wouldRun: Readonly<Record<string, number>>
  /**
   * How many of these messages other handlers have processed already: they do not run again. Those
   * without records (`at-least-once`) are never named. Undefined where handlers are not known: ask through `app.operations`.
   */
  readonly alreadyDone: Readonly<Record<string, number>> | undefined
  /** Letters so old that nobody can know any more whether they were processed. They would run all the same. */
  readonly tooOld: number
  /** Letters whose expiry has passed: they would only be skipped, or die of it again. */
  readonly expired: number
}

export interface RedriveSettings {
  readonly id: string
  readonly by: string
  readonly why: string
  /** So many are tried before the others; 0: none. */
  readonly canary: number
  readonly perSecond: number | undefined
  /** It stops when more than these have failed again. */
  readonly stopAfterFailures: number
}

export interface Redrive extends RedriveSettings {
  readonly state: 'running' | 'finished' | 'stopped'
  readonly selected: number
  readonly startedAt: Date
  readonly endedAt: Date | undefined
  /** How far it had come when it ended. */
  readonly reached: RedriveProgress | undefined
}

/** Counted from the rows themselves, by what they are now. Whatever was selected and is not counted here has succeeded. */
export interface RedriveProgress {
  /** Not yet given another life. */
  readonly unreleased: number
  /** Released, and not tried since. */
  readonly untried: number
  /** Released, and failed at least once since; waiting or dead again. */
  readonly failed: number
}

/** How far a redrive has come, or had come when it ended: letters that were waiting then may have succeeded since. */
export interface RedriveStatus extends Redrive, RedriveProgress {
  readonly succeeded: number
}

/** Something that a person did. */
export interface AuditedAction {
  /** `unreadable`: somebody has changed the entry by hand, and `subject` is all that is left of it. */
  readonly action: 'redrive' | 'stop-redrive' | 'discard' | 'edit' | 'annotate' | 'forget' | 'retry' | 'unreadable'
  readonly by: string
  readonly why: string
  readonly at: Date
  /** What it was done to; text where it cannot be read. */
  readonly subject: unknown
}

/** What operators do with dead letters. Whatever changes something is audited in the same transaction. */
export interface LetterOperations {
  /**
   * In the order in which they were parked; 100 unless told, at most 1,000 at a time, and fewer where they are large: no
   * more than begin within 16 MiB. The list is at its end when a page is empty.
   */
  list(filter?: LetterFilter, page?: Page): Promise<readonly DeadLetter[]>
  get(key: RecordKey): Promise<DeadLetter | undefined>
  /** Letters that died of the same thing, the largest groups first. */
  groups(filter?: LetterFilter, limit?: number): Promise<readonly CountedGroup[]>
  /** Keeps a note with a group, also when its letters are gone; an empty one removes it. */
  annotate(group: LetterGroup, note: string, signature: Signature): Promise<void>
  preview(selection: LetterSelection): Promise<RedrivePreview>
  /**
   * Gives letters another life: only what has not succeeded runs, under the same id. What is selected now is all that is
   * ever in it. Any started app of the store drives it, and another goes on when that one ends.
   */
  redrive(
    selection: LetterSelection,
    options: RedriveOptions,
  ): Promise<{ readonly id: string; readonly selected: number }>
  /**
   * Gives letters up for good; resolves to how many. Late copies of them are duplicates, and what waits behind them,
   * later handlers included, goes on.
   */
  discard(selection: LetterSelection, signature: Signature): Promise<number>
  /** The latest first. */
  redrives(limit?: number): Promise<readonly Redrive[]>
  redriveStatus(id: string): Promise<RedriveStatus>
  /** What was released already goes on. False: it had ended by itself. */
  stopRedrive(id: string, signature: Signature): Promise<boolean>
}

/** What operators ask about messages that wait for another attempt. */
export interface RetryOperations {
  /** In pages, as dead letters. */
  list(filter?: LetterFilter, page?: Page): Promise<readonly WaitingRetry[]>
  get(key: RecordKey): Promise<WaitingRetry | undefined>
  /**
   * Makes them due now; resolves to how many. Left out: what is being tried, what is in a redrive, and what changes
   * meanwhile. Their attempts stay counted, and what waits for an earlier handler or message goes on waiting for that.
   */
  retryNow(selection: LetterSelection, signature: Signature): Promise<number>
}

/** What operators ask about messages that were published and are not sent yet. Those that a broker refused for good are dead letters. */
export interface OutgoingOperations {
  /** How many wait for each destination that has any, whichever app published them. */
  waiting(): Promise<Readonly<Record<string, QueueCount>>>
}

/** The records of what was processed. */
export interface RecordOperations {
  find(key: RecordKey): Promise<InboxRecord | undefined>
  /**
   * Removes the record of a message on purpose: its next copy runs again. False: there was none. That of a parked
   * message is refused.
   */
  forget(key: RecordKey, signature: Signature): Promise<boolean>
}

/** What operators ask and do. Whatever is wrong arrives as a rejection, also that a store cannot do it (`STORE_CANNOT`). */
export interface Operations {
  readonly letters: LetterOperations
  readonly retries: RetryOperations
  readonly outgoing: OutgoingOperations
  readonly records: RecordOperations
  /** What people did, the latest first. */
  audit(limit?: number): Promise<readonly AuditedAction[]>
}
