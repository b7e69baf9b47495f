import type { RecordKey } from './inbox.ts'
import type { PackedMessage, ParkedFilter } from './parking.ts'

/** Dead letters that died of the same thing. */
export interface LetterGroup {
  readonly handler: string
  readonly reason: string
  readonly shape: string
}

export interface GroupTally extends LetterGroup {
  readonly count: number
  /** When the first of them was parked. */
  readonly firstAt: Date
  /** When the last of them was given up. */
  readonly lastAt: Date
}

/** What operators do with dead letters. Filters are given without `state`: everything here is about dead ones. */
export interface Letters<Tx> {
  /** The largest groups first. */
  groups(filter: ParkedFilter, limit: number): Promise<readonly GroupTally[]>
  /** Removes those that fit, up to `limit`, oldest first, and tells which they were. */
  discard(tx: Tx, filter: ParkedFilter, limit: number): Promise<readonly RecordKey[]>
  /**
   * Puts another message in the place of a dead letter's, and keeps the body that was received first. False: there is no such
   * dead letter, or it is held by another.
   */
  replace(tx: Tx, key: RecordKey, message: PackedMessage): Promise<boolean>
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

/** Redrives outlive the process that drives them: the selection is a mark on the rows, everything else is counted. */
export interface Redrives<Tx> {
  /** Stores it and marks every dead letter that fits and is in no other redrive. Resolves to how many those are. */
  start(tx: Tx, settings: RedriveSettings, filter: ParkedFilter): Promise<number>
  /** Locks a running redrive that nobody else is driving, the one that was driven longest ago. `now` is the database's. */
  take(
    tx: Tx,
  ): Promise<{ readonly redrive: Redrive; readonly progress: RedriveProgress; readonly now: Date } | undefined>
  /**
   * Gives the first `limit` of its letters that have not been released another life: waiting, due now, no attempts
   * counted. Error histories stay. Resolves to how many those are.
   */
  release(tx: Tx, id: string, limit: number): Promise<number>
  /** Takes the marks away and keeps what was reached; what was not released stays a dead letter. */
  end(tx: Tx, id: string, state: 'finished' | 'stopped'): Promise<void>
  find(id: string): Promise<{ readonly redrive: Redrive; readonly progress: RedriveProgress } | undefined>
  /** The latest first. */
  list(limit: number): Promise<readonly Redrive[]>
}
