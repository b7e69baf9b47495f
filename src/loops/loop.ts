import type { Clock, Events } from '../contracts/index.ts'

/** Closed while the store is down. */
export interface Gate {
  open(signal: AbortSignal): Promise<void>
  /** Whether the error says that the store is down, so that the gate has closed. */
  closesFor(error: unknown, signal: AbortSignal): boolean
}

export interface LoopOptions {
  /** Named in the event `loop-failed`. */
  readonly name: string
  readonly clock: Clock
  readonly events: Events
  readonly gate?: Gate
  /** Resolves to how long to wait before the next round, unless somebody wakes the loop; 0 is at once. */
  readonly round: (signal: AbortSignal) => Promise<number>
  /** The pause after a failure, doubled with each further one. */
  readonly afterFailure: { readonly leastMs: number; readonly mostMs: number }
}

/** Does the same again and again until it is stopped. A round that fails is reported, and the next one comes later. */
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

  /** There is something to do: the next round begins now, or directly after the present one. */
  wake(): void {
    this.#sleeping.abort()
  }

  /** Resolves when the present round has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.wake()
    await this.#running
  }

  /** For what a round has begun and not waited for. */
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
      // Made before the round, so that a wake-up during it is not lost.
      this.#sleeping = new AbortController()
      try {
        const pauseMs = await round(signal)
        failuresInARow = 0
        if (pauseMs > 0 && !signal.aborted) await clock.sleep(pauseMs, this.#sleeping.signal)
      } catch (error) {
        this.failed(error)
        // More to do changes nothing about what went wrong, so that it does not wake it.
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
