/**
 * Runs the work while the clock of this process is wrong by this much, as far as JavaScript can see: `Date.now()` and
 * `new Date()`. Timers and measurements are not affected.
 */
export async function withProcessClock<T>(aheadMs: number, work: () => Promise<T>): Promise<T> {
  const Right = globalThis.Date
  class Wrong extends Right {
    constructor(...given: readonly unknown[]) {
      if (given.length === 0) super(Right.now() + aheadMs)
      else super(...(given as [number]))
    }

    static override now(): number {
      return Right.now() + aheadMs
    }
  }
  globalThis.Date = Wrong as DateConstructor
  try {
    return await work()
  } finally {
    globalThis.Date = Right
  }
}
