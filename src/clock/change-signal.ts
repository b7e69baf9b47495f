import type { Clock } from '../contracts/index.ts'

/** Lets loops sleep until something may have changed. A change just before the sleep is not missed. */
export interface ChangeSignal {
  announce(): void
  /** Read this before looking at what may change. */
  seen(): number
  /** Resolves when something has changed since, when `ms` have passed, or when the signal is aborted. */
  since(seen: number, limits?: { readonly ms?: number; readonly signal?: AbortSignal }): Promise<void>
}

export function changeSignal(clock: Clock): ChangeSignal {
  const waiting = new Set<() => void>()
  let count = 0
  return {
    announce() {
      count++
      for (const wake of [...waiting]) wake()
    },
    seen: () => count,
    since: (seen, { ms, signal } = {}) =>
      new Promise((resolve) => {
        if (count !== seen || signal?.aborted) return resolve()
        const sleep = new AbortController()
        const wake = (): void => {
          waiting.delete(wake)
          signal?.removeEventListener('abort', wake)
          sleep.abort()
          resolve()
        }
        waiting.add(wake)
        signal?.addEventListener('abort', wake)
        if (ms !== undefined) void clock.sleep(ms, sleep.signal).then(wake)
      }),
  }
}
