import type { Clock } from '../../contracts/index.ts'
import type { Entry } from './memory-broker.ts'

/** What waits for its delay. Nothing runs by itself: whoever looks is told what is due by then. */
export interface DelayedEntries {
  add(entries: readonly Entry[], delayMs: number): void
  /** Removes those whose delay is over. */
  takeDue(): readonly Entry[]
  /** Those that are due first come first. */
  all(): readonly Entry[]
  /** Until the next one is due; undefined when there is none. */
  nextInMs(): number | undefined
}

export function delayedEntries(clock: Clock): DelayedEntries {
  let waiting: { readonly entry: Entry; readonly dueMs: number }[] = []

  return {
    add(entries, delayMs) {
      const dueMs = clock.monotonicMs() + delayMs
      waiting = [...waiting, ...entries.map((entry) => ({ entry, dueMs }))].sort((a, b) => a.dueMs - b.dueMs)
    },
    takeDue() {
      if (waiting.length === 0) return []
      const nowMs = clock.monotonicMs()
      const due = waiting.filter(({ dueMs }) => dueMs <= nowMs)
      if (due.length > 0) waiting = waiting.slice(due.length)
      return due.map(({ entry }) => entry)
    },
    all: () => waiting.map(({ entry }) => entry),
    nextInMs() {
      const next = waiting[0]
      return next === undefined ? undefined : next.dueMs - clock.monotonicMs()
    },
  }
}
