import type { JustonceEvent } from '../contracts/index.ts'
import { addCounts, type Counts, countDuration, countsOf, countsOfDestination, noCounts } from '../facts/index.ts'

/** Counts what a process does, from its events: for the minute that is running, and for the last few seconds. */
export class Counter {
  #minute = noCounts()
  /** What was counted since the last look, and in the looks before it. */
  #sinceLook = noCounts()
  #looks: { readonly from: number; readonly to: number; readonly counts: Counts }[] = []
  #lookedAt: number
  readonly #recentMs: number

  /** `now` is monotonic. A look counts as recent for `recentMs`. */
  constructor(now: number, recentMs = 15_000) {
    this.#lookedAt = now
    this.#recentMs = recentMs
  }

  heard(event: JustonceEvent): void {
    const counts = this.#sinceLook
    switch (event.kind) {
      case 'processed': {
        const handler = countsOf(counts, event.handler)
        handler.processed++
        if (event.attempt !== undefined) handler.retried++
        return
      }
      case 'duplicate':
        if (event.from === 'cache') countsOf(counts, event.handler).knownHere++
        else countsOf(counts, event.handler).knownInStore++
        return
      case 'parked': {
        const isWaiting = event.state === 'waiting'
        // It only waits for its turn: nothing was tried.
        if (isWaiting && event.attempts === 0) return
        const handler = countsOf(counts, event.handler)
        if (event.attempts > 0) handler.failed++
        if (event.attempts > 1) handler.retried++
        if (!isWaiting) handler.dead++
        return
      }
      case 'at-most-once-failed':
        countsOf(counts, event.handler).failed++
        return
      case 'expired':
        countsOf(counts, event.handler).expired++
        return
      case 'called':
        countDuration(countsOf(counts, event.handler).durations, event.ms)
        return
      case 'batch': {
        const { batches } = counts
        batches.count++
        batches.messages += event.messages
        batches.largest = Math.max(batches.largest, event.messages)
        batches.ms += event.ms
        return
      }
      case 'published':
        counts.published += event.messages
        return
      case 'relayed': {
        const destination = countsOfDestination(counts, event.destination)
        destination.sent += event.sent
        destination.failed += event.failed
      }
    }
  }

  /** What was counted in the minute that is running, up to the last look. */
  get minute(): Counts {
    return this.#minute
  }

  /** Returns what was counted recently, in this and the looks before it. */
  look(now: number): { readonly ms: number; readonly counts: Counts } {
    addCounts(this.#minute, this.#sinceLook)
    const looks = [...this.#looks, { from: this.#lookedAt, to: now, counts: this.#sinceLook }]
    this.#looks = looks.filter(({ to }) => to > now - this.#recentMs)
    this.#sinceLook = noCounts()
    this.#lookedAt = now
    const recent = noCounts()
    for (const look of this.#looks) addCounts(recent, look.counts)
    return { ms: now - (this.#looks[0]?.from ?? now), counts: recent }
  }

  /** Ends the minute: from now on the next one is counted. */
  nextMinute(): void {
    this.#minute = noCounts()
  }
}
