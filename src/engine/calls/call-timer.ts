import type { Clock } from '../../contracts/index.ts'

/** Something that must be notified when its time is up. */
export interface Timed {
  readonly endsAt: number
  expire(): void
}

/**
 * Watches the calls of a transaction. They run one after the other, so one timer is enough: starting and stopping a timer
 * for each call costs more than many calls do. The timer keeps running between calls and checks whether the watched call has
 * expired.
 */
export class CallTimer {
  readonly #clock: Clock
  #watched: Timed | undefined
  #timer: { cancel(): void } | undefined
  #firesAt = Number.POSITIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Watches this call until another one replaces it. */
  watch(timed: Timed, now: number): void {
    this.#watched = timed
    if (timed.endsAt < this.#firesAt) this.#start(timed.endsAt, now)
  }

  /** The call is over. */
  release(timed: Timed): void {
    if (this.#watched === timed) this.#watched = undefined
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#firesAt = Number.POSITIVE_INFINITY
  }

  #start(at: number, now: number): void {
    this.#timer?.cancel()
    this.#firesAt = at
    this.#timer = this.#clock.timer(at - now, () => this.#look())
  }

  #look(): void {
    this.#firesAt = Number.POSITIVE_INFINITY
    const watched = this.#watched
    if (watched === undefined) return
    const now = this.#clock.monotonicMs()
    if (now < watched.endsAt) this.#start(watched.endsAt, now)
    else watched.expire()
  }
}

export async function withCallTimer<T>(clock: Clock, work: (timer: CallTimer) => Promise<T>): Promise<T> {
  const timer = new CallTimer(clock)
  try {
    return await work(timer)
  } finally {
    timer.stop()
  }
}
