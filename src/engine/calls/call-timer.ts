import type { Clock } from '../../contracts/index.ts'

/** Something that must be notified when its time is up. */
export interface Timed {
  readonly endsAt: number
  expire(): void
}

/**
 * Watches all calls of handlers on one clock. One timer is enough for them: starting and stopping a timer for each call, or even
 * for each batch, costs more than many calls do. The timer keeps running between calls and checks whether a watched call has
 * expired.
 */
export class CallTimer {
  readonly #clock: Clock
  readonly #watched = new Set<Timed>()
  #timer: { cancel(): void } | undefined
  #firesAt = Number.POSITIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Watches this call until it is released. */
  watch(timed: Timed, now: number): void {
    this.#watched.add(timed)
    if (timed.endsAt < this.#firesAt) this.#start(timed.endsAt, now)
  }

  /** The call is over. */
  release(timed: Timed): void {
    this.#watched.delete(timed)
  }

  /** Called when an app has stopped: nothing of it may be left on the clock. Another app on the same clock goes on. */
  rest(): void {
    if (this.#watched.size > 0) return
    this.#timer?.cancel()
    this.#firesAt = Number.POSITIVE_INFINITY
  }

  #start(at: number, now: number): void {
    this.#timer?.cancel()
    this.#firesAt = at
    this.#timer = this.#clock.timer(at - now, () => this.#look())
  }

  #look(): void {
    this.#firesAt = Number.POSITIVE_INFINITY
    const now = this.#clock.monotonicMs()
    let next = Number.POSITIVE_INFINITY
    for (const timed of [...this.#watched]) {
      if (now < timed.endsAt) next = Math.min(next, timed.endsAt)
      else {
        this.#watched.delete(timed)
        timed.expire()
      }
    }
    // Unless what has expired has begun another call meanwhile.
    if (next < this.#firesAt) this.#start(next, now)
  }
}

const timers = new WeakMap<Clock, CallTimer>()

/** The timer of all calls on this clock. */
export function callTimerOf(clock: Clock): CallTimer {
  let timer = timers.get(clock)
  if (timer === undefined) {
    timer = new CallTimer(clock)
    timers.set(clock, timer)
  }
  return timer
}
