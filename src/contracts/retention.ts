/**
 * Removing old records without ever running a message twice. The horizon is kept in the database and only grows: a
 * message born before it whose record is not there is too old to know. It is raised before anything is removed.
 */
export interface Retention {
  /** Undefined: nothing was ever removed. */
  horizon(): Promise<Date | undefined>
  /**
   * Raises it to `keepMs` before the database's now, unless it is there already; a process with a wrong clock must not
   * decide this. Committed when this resolves to the horizon as it is then, and to the database's now.
   */
  raise(keepMs: number): Promise<{ readonly horizon: Date; readonly now: Date }>
  /**
   * Makes what is needed for records born until `aheadMs` after the database's now (partitions). Twice is no error. Where it
   * is late, claims must go on to work.
   */
  prepare(aheadMs: number): Promise<void>
  /**
   * Removes records for about `budgetMs`: those born before `bornBefore`, and, only where `timelessBefore` is given, those of
   * ids without a time that were processed before that. Never those in state `parked` without a time. Must not make a claim wait.
   * You may assume that `bornBefore` lies well before the horizon. Resolves to how many are gone and whether there are more.
   */
  remove(options: {
    readonly bornBefore: Date
    readonly timelessBefore: Date | undefined
    readonly budgetMs: number
  }): Promise<{ readonly removed: number; readonly more: boolean }>
  /**
   * Keeps for each handler by which scheme `born` is derived from its keys, and resolves to the scheme that was kept first:
   * one that changed would not find the records it has made.
   */
  pinScheme(handler: string, scheme: string): Promise<string>
}
