import type { Clock } from '../contracts/index.ts'

/**
 * Begins to count, and returns how much time has passed since by whichever clock has counted more. The monotonic clock of many
 * systems stands still while the machine sleeps, and the other one does not. If that one was only set, less is called than could be.
 */
export function stopwatch(clock: Clock): () => number {
  const monotonicMs = clock.monotonicMs()
  const atMs = clock.now().getTime()
  return () => Math.max(clock.monotonicMs() - monotonicMs, clock.now().getTime() - atMs)
}
