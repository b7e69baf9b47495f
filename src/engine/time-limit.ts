import type { Clock } from '../contracts/index.ts'
import { JustonceError } from '../errors/index.ts'

/** The time that one call of a handler has. */
export class TimeLimit {
  /** Set when the time is up. */
  error: JustonceError | undefined
  readonly #clock: Clock
  readonly #endsAt: number
  readonly #describe: () => string
  readonly #timer: { cancel(): void }
  // Made only when a handler asks for it: most do not, and it is not free.
  #abort: AbortController | undefined
  #giveUp: ((error: JustonceError) => void) | undefined

  constructor(clock: Clock, ms: number, describe: () => string) {
    this.#clock = clock
    this.#endsAt = clock.monotonicMs() + ms
    this.#describe = describe
    this.#timer = clock.timer(ms, () => this.#expire())
  }

  /** Asked of the clock, not of the timer: that cannot fire while a handler blocks the event loop. */
  get isUp(): boolean {
    if (this.error === undefined && this.#clock.monotonicMs() > this.#endsAt) this.#expire()
    return this.error !== undefined
  }

  /** Aborted when the time is up. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    if (this.error !== undefined) this.#abort.abort(this.error)
    return this.#abort.signal
  }

  /** What the promise comes to, unless the time is up before. One at a time. */
  within<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.error !== undefined) reject(this.error)
      this.#giveUp = reject
      promise.then(resolve, reject)
    })
  }

  #expire(): void {
    const error = new JustonceError('HANDLER_TIMEOUT', { message: this.#describe() })
    this.error = error
    this.#abort?.abort(error)
    this.#giveUp?.(error)
  }

  stop(): void {
    this.#timer.cancel()
  }
}
