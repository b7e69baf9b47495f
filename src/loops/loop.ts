import type { Clock, Events } from '../contracts/index.ts'

/** Closed while the store is down. */
export interface Gate {
  open(signal: AbortSignal): Promise<void>
  /** Whether the error shows that the store is down; if so, the gate is closed. */
  closesFor(error: unknown, signal: AbortSignal): boolean
}

export interface LoopOptions {
  /** Named in the event `loop-failed`. */
  readonly name: string
  readonly clock: Clock
  readonly events: Events
  readonly gate?: Gate
  /** Resolves to how long to wait before the next round, unless the loop is woken; 0 means no wait. */
  readonly round: (signal: AbortSignal) => Promise<number>
  /** The pause after a failure, doubled with each further failure in a row. */
  readonly afterFailure: { readonly leastMs: number; readonly mostMs: number }
}

/** Repeats a round until it is stopped. A round that fails is reported, and the next one is delayed. */
export class Loop {
  readonly #options: LoopOptions
  readonly #stopping = new AbortController()
  #sleeping = new AbortController()
  #running: Promise<void> | undefined

  constructor(options: LoopOptions) {
    this.#options = options
  }

  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  start(): void {
    this.#running = this.#run()
  }

  /** There is something to do: the next round begins now, or directly after the current one. */
  wake(): void {
    this.#sleeping.abort()
  }

  /** Resolves when the current round has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.wake()
    await this.#running
  }

  /** Reports a failure of work that a round has started and not awaited. */
  failed(error: unknown): void {
    const { gate, events, name } = this.#options
    if (gate?.closesFor(error, this.signal)) return
    events.emit({ kind: 'loop-failed', loop: name, error })
  }

  async #run(): Promise<void> {
    const { clock, gate, round } = this.#options
    const { signal } = this
    let failuresInARow = 0
    while (!signal.aborted) {
      if (gate !== undefined) await gate.open(signal)
      if (signal.aborted) return
      // Created before the round, so that a wake-up during it is not lost.
      this.#sleeping = new AbortController()
      try {
        const pauseMs = await round(signal)
        failuresInARow = 0
        if (pauseMs > 0 && !signal.aborted) await clock.sleep(pauseMs, this.#sleeping.signal)
      } catch (error) {
        this.failed(error)
        // New work does not fix the failure, so `wake` does not end this sleep.
        await clock.sleep(this.#pauseMs(failuresInARow++), signal)
      }
    }
  }

  #pauseMs(failuresBefore: number): number {
    const { clock, afterFailure } = this.#options
    const ms = Math.min(afterFailure.leastMs * 2 ** Math.min(failuresBefore, 20), afterFailure.mostMs)
    return ms * (0.5 + clock.random() / 2)
  }
}
