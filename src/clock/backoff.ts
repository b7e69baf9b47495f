import type { Clock } from '../contracts/index.ts'

/** 100 ms, doubled with each failure up to 5 s, with jitter so that processes do not all retry at once. */
export function backoffMs(failures: number, clock: Pick<Clock, 'random'>): number {
  return Math.min(100 * 2 ** failures, 5_000) * (0.5 + clock.random() / 2)
}
