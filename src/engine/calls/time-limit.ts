import type { Clock } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import type { CallTimer, Timed } from './call-timer.ts'

interface TimedRun {
  readonly handler: { readonly name: string; readonly timeoutMs: number }
  readonly key: string
}

/** The time that one call of a handler has. */
export class TimeLimit implements Timed {
  readonly endsAt: number
  /** Set when the time is up. */
  error: JustonceError | undefined
  readonly #clock: Clock
  readonly #timer: CallTimer
  readonly #run: TimedRun
  // Made only when a handler asks for it: most do not, and it is not free.
  #abort: AbortController | undefined
  #giveUp: ((error: JustonceError) => void) | undefined

  /** For a call with this run, and perhaps others. */
  constructor(clock: Clock, timer: CallTimer, run: TimedRun) {
    const now = clock.monotonicMs()
    this.endsAt = now + run.handler.timeoutMs
    this.#clock = clock
    this.#timer = timer
    this.#run = run
    timer.watch(this, now)
  }

  /** Asked of the clock, not of the timer: that cannot fire while a handler blocks the event loop. */
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

  /** What the promise comes to, unless the time is up before. One at a time. */
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
