import type { Delivery, Transport } from '../contracts/index.ts'
import type { Engine } from '../engine/engine.ts'
import { handleDeliveries } from '../engine/handle-deliveries.ts'
import { emptyReport } from '../engine/report.ts'
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
    for (const timer of this.#heldTimers.values()) timer.cancel()
    const held = [...this.#heldTimers.keys()]
    this.#heldTimers.clear()
    await this.#release([...held, ...this.#lanes.all.flatMap((lane) => lane.queue.splice(0))])
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
      const report = emptyReport()
      lane.busy = true
      try {
        await handleDeliveries(this.#engine, this.#source, batch, report)
        const tookMs = clock.monotonicMs() - begunAt
        sizes.learn(batch, tookMs, report.conflicts)
        this.#gate.worked()
        lane.putBack(report.again)
        for (const delivery of report.held) this.#holdBack(lane, delivery)
        events.emit({ kind: 'batch', messages: batch.length, handled: report.settled.length, ms: tookMs })
      } catch (error) {
        // Whatever it was, nothing was acknowledged that is not committed. The others are handled again.
        const settled = new Set(report.settled)
        lane.putBack(batch.filter((delivery) => !settled.has(delivery)))
        this.#gate.close(error, signal)
      } finally {
        for (const hook of report.background) this.#track(hook)
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
