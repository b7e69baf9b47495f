import type { Delivery, Transport } from '../contracts/index.ts'
import type { Engine } from '../engine/engine.ts'
import { handleDeliveries } from '../engine/handle-deliveries.ts'
import type { Source } from '../engine/source.ts'
import { AdaptiveBatch, type BatchOptions } from './adaptive-batch.ts'
import { type Lane, Lanes } from './lanes.ts'
import type { StoreGate } from './store-gate.ts'

export interface ConsumerOptions {
  /** Batches in flight at once. */
  readonly concurrency: number
  readonly batch: BatchOptions
  /** How long a message whose claim a rival holds waits before it is tried again. */
  readonly heldDelayMs: number
}

/** Takes deliveries from one transport and has them handled, until it is stopped. */
export class Consumer<Tx> {
  readonly #engine: Engine<Tx>
  readonly #transport: Transport
  readonly #source: Source
  readonly #gate: StoreGate
  readonly #options: ConsumerOptions
  readonly #lanes: Lanes
  readonly #stopping = new AbortController()
  readonly #background = new Set<Promise<void>>()
  readonly #heldTimers = new Map<Delivery, { cancel(): void }>()
  #running: Promise<void>[] = []

  constructor(engine: Engine<Tx>, transport: Transport, source: Source, gate: StoreGate, options: ConsumerOptions) {
    this.#engine = engine
    this.#transport = transport
    this.#source = source
    this.#gate = gate
    this.#options = options
    this.#lanes = new Lanes(options.concurrency, options.batch.max)
  }

  start(): void {
    this.#running = [this.#intake(), ...this.#lanes.all.map((lane) => this.#work(lane))]
  }

  /** Finishes what is running, gives back what is not, and resolves when nothing is left. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    for (const lane of this.#lanes.all) lane.wake()
    await Promise.all(this.#running)
    await this.#release([...this.#heldTimers.keys(), ...this.#lanes.all.flatMap((lane) => lane.queue.splice(0))])
    for (const timer of this.#heldTimers.values()) timer.cancel()
    await Promise.all(this.#background)
  }

  async #intake(): Promise<void> {
    const { signal } = this.#stopping
    const { concurrency, batch } = this.#options
    // One batch for each lane to work on and one to have ready.
    const maxInFlight = concurrency * batch.max * 2
    while (!signal.aborted) {
      try {
        for await (const deliveries of this.#transport.deliveries({ signal, maxInFlight })) {
          this.#lanes.assign(deliveries)
          await this.#gate.open(signal)
        }
      } catch (error) {
        this.#engine.events.emit({ kind: 'loop-failed', loop: `intake of ${this.#transport.name}`, error })
      }
      if (!signal.aborted) await this.#engine.clock.sleep(1_000, signal)
    }
  }

  async #work(lane: Lane): Promise<void> {
    const { signal } = this.#stopping
    const { clock, events } = this.#engine
    const sizes = new AdaptiveBatch(this.#options.batch)
    while (!signal.aborted) {
      await lane.waiting()
      await this.#gate.open(signal)
      if (signal.aborted || lane.queue.length === 0) continue
      const batch = sizes.take(lane.queue)
      const begunAt = clock.monotonicMs()
      lane.busy = true
      try {
        const report = await handleDeliveries(this.#engine, this.#source, batch)
        const tookMs = clock.monotonicMs() - begunAt
        sizes.learn(batch, tookMs, report.conflicts)
        this.#gate.worked()
        lane.putBack(report.again)
        for (const delivery of report.held) this.#holdBack(lane, delivery)
        for (const hook of report.background) this.#track(hook)
        events.emit({ kind: 'batch', messages: batch.length, handled: report.handled, ms: tookMs })
      } catch (error) {
        // Whatever it was, nothing was acknowledged that is not committed. The same deliveries are handled again.
        lane.putBack(batch)
        this.#gate.close(error, signal)
      } finally {
        lane.busy = false
      }
    }
  }

  #holdBack(lane: Lane, delivery: Delivery): void {
    const timer = this.#engine.clock.timer(this.#options.heldDelayMs, () => {
      this.#heldTimers.delete(delivery)
      lane.push([delivery])
    })
    this.#heldTimers.set(delivery, timer)
  }

  #track(hook: Promise<void>): void {
    this.#background.add(hook)
    void hook.finally(() => this.#background.delete(hook))
  }

  async #release(deliveries: readonly Delivery[]): Promise<void> {
    if (deliveries.length === 0) return
    try {
      await this.#transport.settle(deliveries, { kind: 'release' })
    } catch (error) {
      this.#engine.events.emit({ kind: 'settle-failed', error, deliveries: deliveries.length })
    }
  }
}
