import type { Engine } from '../engine/engine.ts'
import { retryOneDue } from '../engine/retry-due.ts'
import type { Source } from '../engine/source.ts'
import type { StoreGate } from './store-gate.ts'

/** Gives due parked messages their next attempt. Every process runs one; the rows they hold keep them apart. */
export class Retrier<Tx> {
  readonly #engine: Engine<Tx>
  readonly #source: Source
  readonly #gate: StoreGate
  readonly #pollMs: number
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined

  constructor(engine: Engine<Tx>, source: Source, gate: StoreGate, pollMs: number) {
    this.#engine = engine
    this.#source = source
    this.#gate = gate
    this.#pollMs = pollMs
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#gate.open(signal)
      if (signal.aborted) return
      try {
        if (await retryOneDue(this.#engine, this.#source)) continue
      } catch (error) {
        if (this.#engine.store.classify(error) === 'unavailable') this.#gate.close(error, signal)
        else this.#engine.events.emit({ kind: 'loop-failed', loop: 'retries', error })
      }
      await this.#engine.clock.sleep(this.#pollMs, signal)
    }
  }
}
