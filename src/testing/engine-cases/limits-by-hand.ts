import { systemClock } from '../../clock/index.ts'
import type { Clock } from '../../contracts/index.ts'

/**
 * The real clock, on which the time limits of handlers pass only when a case says so: otherwise a slow machine would use up
 * the time of handlers that are to end in time.
 */
export function limitsByHand(): { readonly clock: Clock; pass(ms: number): void } {
  const timers = new Set<{ readonly atMs: number; ring(): void }>()
  let passedMs = 0
  const timer: Clock['timer'] = (ms, ring) => {
    const set = { atMs: passedMs + ms, ring }
    timers.add(set)
    return { cancel: () => void timers.delete(set) }
  }
  return {
    clock: { ...systemClock, monotonicMs: () => passedMs, timer },
    pass(ms) {
      passedMs += ms
      for (const due of [...timers].filter(({ atMs }) => atMs <= passedMs)) {
        timers.delete(due)
        due.ring()
      }
    },
  }
}
