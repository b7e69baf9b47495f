/**
 * Runs the work while the clock of this process is wrong by so much, as far as JavaScript can tell: `Date.now()` and
 * `new Date()`. Timers and measurements go on as they are.
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
