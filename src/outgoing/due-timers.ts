import type { Clock, Due } from '../contracts/index.ts'

/** More wake-ups than these are left to the polls. */
const mostTimes = 10_000
/** Wake-ups that are this close become one. */
const grainMs = 5
/** No timer runs longer than this: timers have a limit, and a machine may sleep. */
const longestMs = 3_600_000

/**
 * Wakes this process when a delayed message that it has stored becomes due, so that a short delay is not extended by a poll. Other
 * processes poll, and a wake-up that comes too early is harmless: the database's clock decides.
 */
export class DueTimers {
  readonly #clock: Clock
  readonly #wake: () => void
  /** On the monotonic clock, earliest first. */
  #times: number[] = []
  #timer: { cancel(): void } | undefined

  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock
    this.#wake = wake
  }

  add(due: Due): void {
    const delayMs = 'at' in due ? due.at.getTime() - this.#clock.now().getTime() : due.delayMs
    const time = Math.ceil((this.#clock.monotonicMs() + Math.max(0, delayMs)) / grainMs) * grainMs
    const place = placeOf(this.#times, time)
    if (this.#times[place] === time || this.#times.length >= mostTimes) return
    this.#times.splice(place, 0, time)
    if (place === 0) this.#set()
  }

  end(): void {
    this.#times = []
    this.#timer?.cancel()
  }

  #set(): void {
    this.#timer?.cancel()
    const [next] = this.#times
    if (next === undefined) return
    const ms = Math.max(0, next - this.#clock.monotonicMs())
    this.#timer = this.#clock.timer(Math.min(ms, longestMs), () => this.#ring())
  }

  #ring(): void {
    const now = this.#clock.monotonicMs()
    const later = this.#times.findIndex((time) => time > now)
    const isDue = later !== 0 && this.#times.length > 0
    this.#times = later === -1 ? [] : this.#times.slice(later)
    if (isDue) this.#wake()
    this.#set()
  }
}

/** Where it belongs among sorted times. */
function placeOf(times: readonly number[], time: number): number {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((times[middle] as number) < time) low = middle + 1
    else high = middle
  }
  return low
}
