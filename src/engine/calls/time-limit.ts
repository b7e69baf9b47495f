import type { Clock } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { type CallTimer, callTimerOf, type Timed } from './call-timer.ts'

interface TimedRun {
  readonly handler: { readonly name: string; readonly timeoutMs: number }
  readonly key: string
}

/** The time limit of one call of a handler. */
export class TimeLimit implements Timed {
  readonly beganAt: number
  readonly endsAt: number
  /** Set when the time is up. */
  error: JustonceError | undefined
  readonly #clock: Clock
  readonly #timer: CallTimer
  readonly #run: TimedRun
  // Created only when a handler asks for it: most do not, and it is not free.
  #abort: AbortController | undefined
  #giveUp: ((error: JustonceError) => void) | undefined

  /** `run` is the first run of the call; there may be others. */
  constructor(clock: Clock, run: TimedRun) {
    const now = clock.monotonicMs()
    this.beganAt = now
    this.endsAt = now + run.handler.timeoutMs
    this.#clock = clock
    this.#timer = callTimerOf(clock)
    this.#run = run
    this.#timer.watch(this, now)
  }

  /** Reads the clock rather than the timer, because a timer cannot fire while a handler blocks the event loop. */
  get isUp(): boolean {
    if (this.error === undefined && this.#clock.monotonicMs() > this.endsAt) this.expire()
    return this.error !== undefined
  }

  /** Aborted when the time is up. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    if (this.error !== undefined) this.#abort.abort(this.error)
    return this.#abort.signal
  }

  /** Settles like the promise, unless the time is up first. One promise at a time. */
  within<T>(promise: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.error !== undefined) reject(this.error)
      this.#giveUp = reject
      promise.then(resolve, reject)
    })
  }

  expire(): void {
    const { handler, key } = this.#run
    const message = `Handler ${handler.name} has not finished message ${key} within ${handler.timeoutMs} ms.`
    const error = new JustonceError('HANDLER_TIMEOUT', { message })
    this.error = error
    this.#abort?.abort(error)
    this.#giveUp?.(error)
  }

  stop(): void {
    this.#timer.release(this)
  }
}
