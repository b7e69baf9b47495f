import { setTimeout as pause } from 'node:timers/promises'
import { busyError, isBusy } from './sqlite-errors.ts'

export interface Patience {
  readonly patienceMs: number
  readonly signal?: AbortSignal | undefined
}

const longestPauseMs = 12

/**
 * SQLite's own busy timeout blocks the whole event loop while it sleeps; this one yields between attempts. The pauses stay
 * short: an attempt costs microseconds, and while another process writes without a break, the file is free only for moments.
 */
export async function retryWhileBusy<T>(attempt: () => T, { patienceMs, signal }: Patience): Promise<T> {
  const begun = performance.now()
  for (let turn = 0; ; turn++) {
    signal?.throwIfAborted()
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error)) throw error
      const waitedMs = performance.now() - begun
      if (waitedMs >= patienceMs) throw busyError(waitedMs, error)
    }
    const pauseMs = Math.min(longestPauseMs, 1.5 ** turn) * (0.5 + Math.random())
    await pause(pauseMs, undefined, signal === undefined ? {} : { signal }).catch(() => signal?.throwIfAborted())
  }
}
