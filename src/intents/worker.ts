import type { Engine } from '../engine/engine.ts'
import { giveBack, Reservation, reservedForMs } from '../engine/retries/reservation.ts'
import { type Gate, Loop } from '../loops/loop.ts'
import { Attempts } from './attempts.ts'
import type { Effects } from './effects.ts'
import { Finisher } from './finisher.ts'
import { Lane } from './lane.ts'
import { StoredAhead } from './stored-ahead.ts'

export interface IntentWorkerOptions {
  readonly pollMs: number
}

const mostAtOnce = 100
/** More would only fill the memory. */
const mostBytes = 16 * 1_048_576
const longestPauseMs = 30_000

/** Makes the calls that transactions have decided on. Every process with effects runs one; reservations keep them apart. */
export class IntentWorker<Tx> {
  readonly #engine: Engine<Tx>
  readonly #options: IntentWorkerOptions
  readonly #lanes: readonly Lane<Tx>[]
  readonly #loop: Loop
  readonly #finisher: Finisher<Tx>
  readonly #attempts: Attempts<Tx>
  readonly #storedAhead: StoredAhead<Tx>
  /** Reserved by us but not tried, so they must be given back. */
  #untried: Reservation[] = []
  /** There may be more than was reserved. */
  #mayBeMore = false

  constructor(engine: Engine<Tx>, effects: Effects, gate: Gate, options: IntentWorkerOptions) {
    const { clock, events } = engine
    this.#engine = engine
    this.#options = options
    this.#lanes = effects.all.map((effect) => new Lane(engine, effect))
    this.#storedAhead = new StoredAhead(
      engine,
      this.#lanes.map(({ handler }) => handler),
    )
    this.#loop = new Loop({
      ...{ name: 'intents', clock, events, gate },
      round: (signal) => this.#round(signal),
      afterFailure: { leastMs: options.pollMs, mostMs: longestPauseMs },
    })
    const failed = (error: unknown): void => this.#loop.failed(error)
    this.#finisher = new Finisher(engine, { failed, stopping: this.#loop.signal })
    this.#attempts = new Attempts(engine, this.#finisher, {
      failed,
      freed: () => {
        if (this.#mayBeMore) this.#loop.wake()
      },
    })
  }

  start(): void {
    this.#loop.start()
  }

  wake(): void {
    this.#loop.wake()
  }

  /** Starts nothing more, and waits for the calls that have begun: ending them would leave their outcome unknown. */
  async stop(): Promise<void> {
    await this.#loop.stop()
    await this.#attempts.idle()
    await this.#finisher.idle()
    await this.#giveBack().catch((error) => this.#loop.failed(error))
    for (const lane of this.#lanes) await lane.rest().catch((error) => this.#loop.failed(error))
  }

  async #round(signal: AbortSignal): Promise<number> {
    const { clock } = this.#engine
    const begunAt = clock.monotonicMs()
    await this.#giveBack()
    await this.#storedAhead.lookNowAndThen()
    const reserved = await this.#reserve()
    for (const [handler, some] of Map.groupBy(reserved, ({ letter }) => letter.handler)) {
      const lane = this.#lanes.find((each) => each.handler === handler)
      const started = lane === undefined || signal.aborted ? 0 : await this.#start(lane, some)
      this.#untried.push(...some.slice(started))
    }
    if (reserved.length === 0) for (const lane of this.#lanes) await lane.rest()
    if (reserved.length > 0 && this.#lanes.some(({ places }) => places > 0)) return 0
    // If looking takes long, it is done less often: otherwise the database would do nothing else.
    const lookMs = Math.min((clock.monotonicMs() - begunAt) * 4, longestPauseMs)
    const waits = this.#mayBeMore ? this.#lanes.map(({ waitMs }) => waitMs).filter((waitMs) => waitMs > 0) : []
    return Math.max(Math.min(this.#options.pollMs, ...waits), lookMs, 1)
  }

  async #reserve(): Promise<readonly Reservation[]> {
    const free = this.#lanes.filter(({ places }) => places > 0)
    if (free.length === 0) return []
    const limit = Math.min(
      free.reduce((sum, { places }) => sum + places, 0),
      mostAtOnce,
    )
    const rows = await this.#engine.store.parking.reserve({
      limit,
      maxBytes: mostBytes,
      forMs: reservedForMs,
      wanted: free.map(({ handler }) => ({ handler, type: undefined })),
      pastDead: [],
    })
    this.#mayBeMore = rows.length > 0 || free.length < this.#lanes.length
    return rows.map((row) => new Reservation(row))
  }

  /** Resolves to how many of them are ours now: the first ones. */
  async #start(lane: Lane<Tx>, reservations: readonly Reservation[]): Promise<number> {
    const { breakers } = this.#engine
    const admitted = reservations.findIndex(({ letter }) => !breakers.admits({ name: lane.handler }, letter.key))
    const count = await lane.enter(admitted === -1 ? reservations.length : admitted)
    const ours = reservations.slice(0, count)
    for (const reservation of reservations.slice(count)) reservation.pauseMs = lane.waitMs
    if (ours.length > 0) await this.#attempts.start(lane, ours)
    return count
  }

  async #giveBack(): Promise<void> {
    const untried = this.#untried
    if (untried.length === 0) return
    await giveBack(this.#engine, untried)
    this.#untried = this.#untried.filter((each) => !untried.includes(each))
  }
}
