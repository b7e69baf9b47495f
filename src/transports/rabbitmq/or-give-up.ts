import type { Clock } from '../../contracts/index.ts'

export interface Impatience {
  readonly clock: Clock
  readonly afterMs: number
  readonly signal?: AbortSignal | undefined
}

/** What it resolves to, or undefined when that takes too long or is no longer wanted; it then goes on unheard. */
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
