import type { Clock } from '../../contracts/index.ts'

/** Something with an end that has to be told when it has come. */
export interface Timed {
  readonly endsAt: number
  expire(): void
}

/**
 * Watches over the calls of a transaction. They come one after the other, so one timer will do for all of them: to start and
 * stop one for each call costs more than many a call. It is left running between them and looks whose end has come.
 */
export class CallTimer {
  readonly #clock: Clock
  #watched: Timed | undefined
  #timer: { cancel(): void } | undefined
  #firesAt = Number.POSITIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** From now on this one, until another follows it. */
  watch(timed: Timed, now: number): void {
    this.#watched = timed
    if (timed.endsAt < this.#firesAt) this.#start(timed.endsAt, now)
  }

  /** Its call is over. */
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
