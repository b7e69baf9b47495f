import type { Clock } from '../../contracts/index.ts'

export interface Timed {
  readonly clock: Clock
  readonly withinMs: number
}

/** Undefined: not in time. What never answers must not hold up all that comes after its message. */
export async function inTime<T>({ clock, withinMs }: Timed, pending: Promise<T>): Promise<T | undefined> {
  const { promise: timeIsUp, resolve } = Promise.withResolvers<undefined>()
  const timer = clock.timer(withinMs, () => resolve(undefined))
  try {
    return await Promise.race([pending, timeIsUp])
  } finally {
    timer.cancel()
  }
}
