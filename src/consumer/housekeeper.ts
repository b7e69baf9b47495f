import type { Engine } from '../engine/engine.ts'
import type { StoreGate } from './store-gate.ts'
import { UnknownHandlers } from './unknown-handlers.ts'

const everyMs = 60_000
const suspectsKeptMs = 7 * 86_400_000

/** Looks now and then for what nobody else would ever come across again. Every process runs one. */
export class Housekeeper<Tx> {
  readonly #engine: Engine<Tx>
  readonly #gate: StoreGate
  readonly #unknown: UnknownHandlers<Tx>
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined

  constructor(engine: Engine<Tx>, gate: StoreGate) {
    this.#engine = engine
    this.#gate = gate
    this.#unknown = new UnknownHandlers(engine)
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
    const { clock, store, events } = this.#engine
    for (let rounds = 0; !signal.aborted; rounds++) {
      await this.#gate.open(signal)
      if (signal.aborted) return
      try {
        await this.#unknown.look(signal)
        if (rounds % 60 === 0) await store.suspects.forget(suspectsKeptMs)
      } catch (error) {
        events.emit({ kind: 'loop-failed', loop: 'housekeeping', error })
      }
      await clock.sleep(everyMs * (0.75 + clock.random() / 2), signal)
    }
  }
}
