/** What a store answers when the horizon is raised. */
export interface Raised {
  /** The horizon after the call; `undefined` if it has never been raised, including now. */
  readonly horizon: Date | undefined
  /** The database's time. */
  readonly now: Date
  /**
   * The clock has moved further than is plausible: nothing was raised, and nothing may be removed by this `now`. `seen` is
   * what the clock said when it was last believed.
   */
  readonly doubt?: { readonly seen: Date } | undefined
}

/**
 * Removes old records without ever running a message twice. The horizon is kept in the database and only moves forward:
 * a message born before it that has no record is too old to know. The horizon is raised before anything is removed.
 */
export interface Retention {
  /** `undefined` if nothing was ever removed. */
  horizon(): Promise<Date | undefined>
  /**
   * Raises the horizon to `keepMs` before the database's now, unless it is already there; a process with a wrong clock
   * must not decide this. Committed when this resolves.
   * You must: keep in the database what its clock has said, and raise nothing while the clock cannot be believed, as
   * `believedClock` decides. `steadyNow` is what the time should be according to a process that has asked before, by
   * its own monotonic clock.
   */
  raise(keepMs: number, steadyNow?: Date): Promise<Raised>
  /**
   * Lowers the horizon to the point up to which records were really removed, so that nothing that was removed can run again;
   * to `undefined` if nothing was removed. For an operator, after a clock was wrong. Resolves to the horizon before and
   * after.
   */
  repairHorizon(): Promise<{ readonly before: Date | undefined; readonly horizon: Date | undefined }>
  /**
   * Creates what is needed (partitions) for records born from `since` (from now, unless `since` is earlier) until `aheadMs`
   * after the database's now. Calling it twice is no error. If it is late, claims must keep working, unless the database
   * role may not create it.
   */
  prepare(aheadMs: number, since?: Date): Promise<void>
  /**
   * Removes records for about `budgetMs`: those born before `bornBefore`, and, only if `timelessBefore` is given, those of ids
   * without a time that were processed before that. Never those in state `parked` without a time. Must not make a claim wait.
   * You must: remove nothing that was born after the horizon as it is then, and keep in the same transaction when the youngest of
   * the removed records was born, for `repairHorizon`.
   * You may assume that `bornBefore` is well before the horizon. Resolves to how many are gone and whether there are more.
   */
  remove(options: {
    readonly bornBefore: Date
    readonly timelessBefore: Date | undefined
    readonly budgetMs: number
  }): Promise<{ readonly removed: number; readonly more: boolean }>
}
