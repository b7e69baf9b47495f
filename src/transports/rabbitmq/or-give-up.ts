import type { Clock } from '../../contracts/index.ts'

export interface Impatience {
  readonly clock: Clock
  readonly afterMs: number
  readonly signal?: AbortSignal | undefined
}

/** Resolves with the work, or to `undefined` if it takes too long or the signal is aborted. Its result is then ignored. */
export async function orGiveUp<T>(work: Promise<T>, { clock, afterMs, signal }: Impatience): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const giveUp = (): void => resolve(undefined)
  const timer = clock.timer(afterMs, giveUp)
  signal?.addEventListener('abort', giveUp)
  if (signal?.aborted) giveUp()
  work.catch(() => {})
  try {
    return await Promise.race([work, promise])
  } finally {
    timer.cancel()
    signal?.removeEventListener('abort', giveUp)
  }
}
