import { backoffMs } from '../clock/index.ts'
import type { Clock, Events, Store } from '../contracts/index.ts'
import { isJustonceError } from '../errors/index.ts'

export interface PreparingOptions {
  readonly store: Store
  readonly clock: Clock
  readonly events: Events
  /** How long to wait for a store that is unavailable; no limit if not given. */
  readonly withinMs: number | undefined
  /** Aborted when the result is no longer wanted. */
  readonly signal: AbortSignal
}

/**
 * Runs the work as soon as the store is available. A process that starts before its database must not give up, nor one that
 * starts while a backup or another process has everything locked.
 */
export async function whenStoreIsThere<T>(
  work: () => Promise<T>,
  { store, clock, events, withinMs = Number.POSITIVE_INFINITY, signal }: PreparingOptions,
): Promise<T | undefined> {
  const until = clock.monotonicMs() + withinMs
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      const value = await work()
      if (failures > 0) events.emit({ kind: 'store-up' })
      return value
    } catch (error) {
      // Waiting does not give this process a right that it lacks.
      const isRefused = isJustonceError(error, 'STORE_CLOSED') || isJustonceError(error, 'STORE_DENIED')
      const isAway = store.classify(error) !== 'none' && !isRefused
      const leftMs = until - clock.monotonicMs()
      if (!isAway || leftMs <= 0) throw error
      if (failures === 0) events.emit({ kind: 'store-down', error })
      await clock.sleep(Math.min(backoffMs(failures, clock), leftMs), signal)
    }
  }
  return undefined
}
