import type { Clock } from '../contracts/index.ts'

export interface Timed {
  readonly clock: Clock
  readonly withinMs: number
  /** An abort ends the wait early. */
  readonly signal?: AbortSignal | undefined
}

/** Settles like the work, or resolves to `undefined` if that takes too long. What becomes of the work then is ignored. */
export async function inTime<T>(work: Promise<T>, { clock, withinMs, signal }: Timed): Promise<T | undefined> {
  const { promise: tooLate, resolve } = Promise.withResolvers<undefined>()
  const giveUp = (): void => resolve(undefined)
  const timer = clock.timer(withinMs, giveUp)
  signal?.addEventListener('abort', giveUp)
  if (signal?.aborted) giveUp()
  try {
    return await Promise.race([work, tooLate])
  } finally {
    timer.cancel()
    signal?.removeEventListener('abort', giveUp)
  }
}
