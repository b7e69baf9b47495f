import type { Clock } from '../../contracts/index.ts'

export interface Timed {
  readonly clock: Clock
  readonly withinMs: number
}

/** `undefined` if it was not in time. Something that never answers must not block everything after its message. */
export async function inTime<T>({ clock, withinMs }: Timed, pending: Promise<T>): Promise<T | undefined> {
  const { promise: timeIsUp, resolve } = Promise.withResolvers<undefined>()
  const timer = clock.timer(withinMs, () => resolve(undefined))
  try {
    return await Promise.race([pending, timeIsUp])
  } finally {
    timer.cancel()
  }
}
