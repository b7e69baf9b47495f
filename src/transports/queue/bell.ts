import type { Clock } from '../../contracts/index.ts'

/** Something that can be waited for, and that remembers a ring which came just before the waiting. */
export interface Bell {
  ring(): void
  /** To be read before looking at what the bell is about. */
  rings(): number
  /** Resolves when it has rung since, when `ms` have passed, or when the signal is aborted. */
  rung(since: number, signal: AbortSignal, ms?: number): Promise<void>
}

export function bell(clock: Clock): Bell {
  const waiting = new Set<() => void>()
  let rings = 0
  return {
    ring() {
      rings++
      for (const wake of [...waiting]) wake()
    },
    rings: () => rings,
    rung: (since, signal, ms) =>
      new Promise((resolve) => {
        if (rings !== since || signal.aborted) return resolve()
        const sleep = new AbortController()
        const wake = (): void => {
          waiting.delete(wake)
          signal.removeEventListener('abort', wake)
          sleep.abort()
          resolve()
        }
        waiting.add(wake)
        signal.addEventListener('abort', wake)
        if (ms !== undefined) void clock.sleep(ms, sleep.signal).then(wake)
      }),
  }
}
