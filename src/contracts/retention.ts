export interface Raised {
  /** As it is then; undefined: it never was raised, and now it was not to be. */
  readonly horizon: Date | undefined
  /** The database's. */
  readonly now: Date
  /**
   * The clock has moved further than can be: nothing was raised, and nothing may be removed by this `now`. `seen` is what the
   * clock said when it was last believed.
   */
  readonly doubt?: { readonly seen: Date } | undefined
}

/**
 * Removing old records without ever running a message twice. The horizon is kept in the database and only grows: a
 * message born before it whose record is not there is too old to know. It is raised before anything is removed.
 */
export interface Retention {
  /** Undefined: nothing was ever removed. */
  horizon(): Promise<Date | undefined>
  /**
   * Raises it to `keepMs` before the database's now, unless it is there already; a process with a wrong clock must not
   * decide this. Committed when this resolves.
   * You must: keep in the database what its clock has said, and raise nothing while the clock is not to be believed, as
   * `believedClock` decides it. `steadyNow` is what the time should be for a process that has asked before, by its own
   * clock that does not jump.
   */
  raise(keepMs: number, steadyNow?: Date): Promise<Raised>
  /**
   * Lowers it to where records were really removed up to, so that nothing can run again that was removed; to undefined, where
   * nothing was. For an operator, after a clock was wrong. Resolves to what it was before, and what it is now.
   */
  repairHorizon(): Promise<{ readonly before: Date | undefined; readonly horizon: Date | undefined }>
  /**
   * Makes what is needed for records born from `since` (now, unless it is earlier) until `aheadMs` after the database's now
   * (partitions). Twice is no error. Where it is late, claims must go on to work, unless the role may not make it.
   */
  prepare(aheadMs: number, since?: Date): Promise<void>
  /**
   * Removes records for about `budgetMs`: those born before `bornBefore`, and, only where `timelessBefore` is given, those of
   * ids without a time that were processed before that. Never those in state `parked` without a time. Must not make a claim wait.
   * You must: remove nothing that lies behind the horizon as it is then, and keep in the same transaction when the youngest
   * of those was born that are removed, for `repairHorizon`. You may assume that `bornBefore` lies well before the horizon. Resolves to how many are gone and whether there are more.
   */
  remove(options: {
    readonly bornBefore: Date
    readonly timelessBefore: Date | undefined
    readonly budgetMs: number
  }): Promise<{ readonly removed: number; readonly more: boolean }>
}
