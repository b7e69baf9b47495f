import type { Delivery, Transport, TransportNotice } from '../contracts/index.ts'
import type { Engine } from '../engine/engine.ts'
import { handleDeliveries } from '../engine/handle-deliveries.ts'
import { lostWith } from '../engine/partition-moves.ts'
import { emptyReport, type Report } from '../engine/report.ts'
import type { Source } from '../engine/source.ts'
import { AdaptiveBatch, type BatchOptions } from './adaptive-batch.ts'
import { type Lane, Lanes } from './lanes.ts'
import { leftBehind, withoutFollowers } from './left-behind.ts'
import type { Quarantine } from './quarantine.ts'
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
  readonly #quarantine: Quarantine<Tx>
  readonly #options: ConsumerOptions
  readonly #lanes: Lanes
  readonly #stopping = new AbortController()
  readonly #timers = new Set<{ cancel(): void }>()
  #running: Promise<void>[] = []

  constructor(
    engine: Engine<Tx>,
    transport: Transport,
    source: Source,
    { gate, quarantine }: { readonly gate: StoreGate; readonly quarantine: Quarantine<Tx> },
    options: ConsumerOptions,
  ) {
    this.#engine = engine
    this.#transport = transport
    this.#source = source
    this.#gate = gate
    this.#quarantine = quarantine
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
    for (const timer of this.#timers) timer.cancel()
    await this.#release(this.#lanes.all.flatMap((lane) => lane.takeAll()))
  }

  async #intake(): Promise<void> {
    const { signal } = this.#stopping
    const { concurrency, batch } = this.#options
    // One batch for each lane to work on and one to have ready.
    const maxInFlight = concurrency * batch.max * 2
    while (!signal.aborted) {
      try {
        const reading = { signal, maxInFlight, restore: this.#restore(), notice: this.#notice }
        for await (const deliveries of this.#transport.deliveries(reading)) {
          this.#lanes.assign(deliveries)
          await this.#gate.open(signal)
        }
      } catch (error) {
        this.#engine.events.emit({ kind: 'loop-failed', loop: `intake of ${this.#transport.name}`, error })
      }
      if (!signal.aborted) await this.#engine.clock.sleep(1_000, signal)
    }
  }

  readonly #notice = ({ code, message }: TransportNotice): void =>
    this.#engine.events.emit({ kind: 'transport-notice', transport: this.#transport.name, code, message })

  /** Where positions are kept in the store, partitions begin where that says. */
  #restore(): Parameters<Transport['deliveries']>[0]['restore'] {
    const { positions: kept } = this.#source
    const { positions: stored } = this.#engine.store
    if (kept === undefined || stored === undefined) return undefined
    return (partitions) => stored.load(kept.group, partitions)
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
        await this.#handle(batch, report)
        const tookMs = clock.monotonicMs() - begunAt
        sizes.learn(batch, tookMs, report.conflicts)
        this.#gate.worked()
        this.#leave(lane, batch, report)
        events.emit({ kind: 'batch', messages: batch.length, handled: report.settled.length, ms: tookMs })
      } catch (error) {
        // Whatever it was, nothing was acknowledged that is not committed. The others are handled again.
        const settled = new Set(report.settled)
        lane.putBack(batch.filter((delivery) => !settled.has(delivery)))
        this.#gate.close(error, signal)
      } finally {
        lane.busy = false
      }
    }
  }

  async #handle(batch: readonly Delivery[], report: Report): Promise<void> {
    for (const { kind, deliveries } of await this.#quarantine.segments(batch)) {
      const left = withoutFollowers(deliveries, report)
      const segment = { kind, deliveries: await this.#withoutLost(left, report) }
      if (segment.deliveries.length === 0) continue
      try {
        await this.#quarantine.run(segment, (suspicionOf) =>
          handleDeliveries(this.#engine, this.#source, segment.deliveries, report, suspicionOf),
        )
      } finally {
        await this.#quarantine.ended(report)
      }
    }
  }

  /** What follows on something that was lost is read again with it: to begin it would only hold that against it. */
  async #withoutLost(deliveries: readonly Delivery[], report: Report): Promise<readonly Delivery[]> {
    if (report.lost.length === 0) return deliveries
    const lost = lostWith(report.lost, deliveries)
    if (lost.length === 0) return deliveries
    await this.#source.positions?.reread(lost)
    report.settled.push(...lost)
    report.lost.push(...lost)
    return deliveries.filter((delivery) => !lost.includes(delivery))
  }

  #leave(lane: Lane, batch: readonly Delivery[], report: Report): void {
    const pauses = { heldMs: this.#options.heldDelayMs, stoppedMs: this.#breakerPause(report.stopped) }
    for (const { affinity, deliveries, pauseMs } of leftBehind(batch, report, pauses)) {
      if (affinity === undefined) lane.putBack(deliveries)
      else this.#setAside(lane, affinity, deliveries, pauseMs)
    }
  }

  #setAside(lane: Lane, affinity: string | Delivery, deliveries: readonly Delivery[], delayMs: number): void {
    lane.setAside(affinity, deliveries)
    const timer = this.#engine.clock.timer(delayMs, () => {
      this.#timers.delete(timer)
      lane.resume(affinity)
    })
    this.#timers.add(timer)
  }

  /** How long it makes no sense to try them: until a breaker lets the next message through. */
  #breakerPause(deliveries: readonly Delivery[]): number {
    const types = new Set(deliveries.map(({ message }) => message.type ?? ''))
    const handlers = [...types].flatMap((type) => this.#engine.handlersOf(type))
    return Math.max(10, ...handlers.map((handler) => this.#engine.breakers.waitMs(handler)))
  }

  async #release(deliveries: readonly Delivery[]): Promise<void> {
    if (deliveries.length === 0) return
    try {
      await this.#transport.settle(deliveries, { kind: 'release' })
      await this.#quarantine.forgive(deliveries)
    } catch (error) {
      this.#engine.events.emit({ kind: 'settle-failed', error, deliveries: deliveries.length })
    }
  }
}
