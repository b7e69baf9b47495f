/**
 * All time and randomness that the engine and the consumer use. It is passed in, so that a test or a simulation can
 * control both. Deadlines shared between processes never come from here but from the database's clock.
 */
export interface Clock {
  now(): Date
  /** Milliseconds that never decrease; for measuring, not for dates. */
  monotonicMs(): number
  /** Resolves after `ms`, or as soon as the signal is aborted. It never rejects: the caller checks the signal. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls back once after `ms` unless cancelled. */
  timer(ms: number, callback: () => void): { cancel(): void }
  /**
   * For how many milliseconds this process has computed rather than waited. If absent, it always waits. From this a consumer
   * sees whether more batches at once would help.
   */
  busyMs?(): number
  /** 0 ≤ x < 1; for jitter. */
  random(): number
}
