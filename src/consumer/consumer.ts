import type { Delivery, Restore, Subscriber, TransportNotice } from '../contracts/index.ts'
import { handleDeliveries } from '../engine/batch/handle-deliveries.ts'
import { addResult, type BatchResult, emptyResult } from '../engine/batch-result.ts'
import type { Engine } from '../engine/engine.ts'
import type { Feed } from '../engine/feed.ts'
import { gathers } from '../engine/handler.ts'
import type { SuspicionOf } from '../engine/intake/sort-out.ts'
import { lostWith } from '../engine/positions/partition-moves.ts'
import { isJustonceError } from '../errors/index.ts'
import type { StoreGate } from '../loops/store-gate.ts'
import { Activity } from './activity.ts'
import { AdaptiveBatch, type BatchOptions } from './adaptive-batch.ts'
import { GrowingAppetite } from './appetite.ts'
import { AtOnce } from './at-once.ts'
import type { BatchInTurn } from './batch-in-turn.ts'
import type { MayBegin, TakenBatch } from './chains.ts'
import { type InFlightLimits, InHand } from './in-hand.ts'
import { leftBehind, withoutFollowers } from './left-behind.ts'
import { Overdue } from './overdue.ts'
import type { Quarantine } from './quarantine.ts'

export interface ConsumerOptions {
  /** How many batches may be in flight at once. */
  readonly concurrency: number
  /** Whether always as many may be, also while this process is too busy to use them. */
  readonly isFixed?: boolean
  readonly batch: BatchOptions
  readonly inFlight: InFlightLimits
  /** How long a message waits before it is retried if another process holds its claim. */
  readonly heldDelayMs: number
}

/** In budgets of a batch. */
const longestBatch = 10

/** Takes deliveries from one transport and has them handled, until it is stopped. */
export class Consumer<Tx> {
  readonly #engine: Engine<Tx>
  readonly #transport: Subscriber
  readonly #feed: Feed
  readonly #gate: StoreGate
  readonly #quarantine: Quarantine<Tx>
  readonly #options: ConsumerOptions
  readonly #sizes: AdaptiveBatch
  readonly #activity: Activity
  readonly #overdue: Overdue
  /** `undefined` if always as many batches may be in flight. */
  readonly #workers: AtOnce | undefined
  readonly #inHand: InHand
  readonly #appetite: GrowingAppetite
  readonly #stopping = new AbortController()
  readonly #background = new Set<Promise<void>>()
  readonly #connected = Promise.withResolvers<void>()
  #idle = 0
  #running: Promise<void>[] = []
  #stopListening = (): void => {}

  constructor(
    engine: Engine<Tx>,
    transport: Subscriber,
    feed: Feed,
    { gate, quarantine }: { readonly gate: StoreGate; readonly quarantine: Quarantine<Tx> },
    options: ConsumerOptions,
  ) {
    this.#engine = engine
    this.#transport = transport
    // Most callers do not wait for it.
    this.#connected.promise.catch(() => {})
    this.#feed = { ...feed, lockTimeoutMs: () => this.#sizes.lockTimeoutMs }
    this.#gate = gate
    this.#quarantine = quarantine
    this.#options = options
    const { handlersOf, slots, isLimited, isGathering } = engine
    // A batch that is alone has none to collide with.
    const sizes = options.concurrency === 1 ? { ...options.batch, start: options.batch.max } : options.batch
    this.#sizes = new AdaptiveBatch(sizes, (type) => isGathering && handlersOf(type).every(gathers))
    const mayBegin: MayBegin = ({ message: { type = '' } }) =>
      this.#sizes.mayBegin(type) && (!isLimited || slots.areFree(handlersOf(type)))
    this.#activity = new Activity(engine.clock)
    const { clock } = engine
    this.#overdue = new Overdue(clock, options.batch.budgetMs * longestBatch)
    if (!options.isFixed && clock.busyMs !== undefined) this.#workers = new AtOnce(options.concurrency, clock.busyMs)
    this.#appetite = new GrowingAppetite(() => this.#wanted())
    this.#inHand = new InHand({
      clock: engine.clock,
      capabilities: transport.capabilities,
      limits: options.inFlight,
      gate,
      mayBegin: () => (isLimited || this.#sizes.isHoldingBack ? mayBegin : undefined),
      hasRoom: () => this.#room() > 0,
      giveBack: (deliveries) => this.#track(this.#release(deliveries)),
      letGo: (deliveries) => this.#track(this.#forgive(deliveries)),
    })
  }

  /** What will be handled soon, plus what cannot be handled now and must not block other messages. */
  #wanted(): number {
    const { inFlight, concurrency } = this.#options
    const batches = Math.min(concurrency, this.#atOnce + this.#overdue.batches)
    const soon = this.#sizes.usualSize * batches * (this.#sizes.isMeasured ? 2 : 1)
    const fitting = Math.floor(inFlight.bytes / Math.max(1, this.#inHand.averageBytes))
    return Math.max(1, Math.min(inFlight.messages, fitting, this.#inHand.stuck + soon))
  }

  start(): void {
    const { breakers, slots } = this.#engine
    const stops = [breakers.onClosed(() => this.#inHand.resumeStopped()), slots.onFreed(() => this.#inHand.wake())]
    this.#stopListening = () => stops.forEach((stop) => void stop())
    const workers = Array.from({ length: this.#options.concurrency }, () => this.#work())
    this.#running = [this.#intake(), ...workers]
  }

  /** Resolves when the broker was reached for the first time; rejects if it refuses us before that. */
  get connected(): Promise<void> {
    return this.#connected.promise
  }

  /** Finishes what is running, gives back what is not, and resolves when nothing is left. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#stopListening()
    this.#inHand.wakeAll()
    await Promise.all(this.#running)
    this.#overdue.stop()
    await this.#release(this.#inHand.close())
    await Promise.all(this.#background)
  }

  async #intake(): Promise<void> {
    const { signal } = this.#stopping
    const { messages: maxInFlight, bytes: maxBytes } = this.#options.inFlight
    while (!signal.aborted) {
      try {
        const appetite = this.#appetite
        const { resolve: connected } = this.#connected
        const reports = { connected: () => connected(), notice: this.#notice }
        const reading = { signal, maxInFlight, maxBytes, appetite, restore: this.#restore(), ...reports }
        for await (const deliveries of this.#transport.deliveries(reading)) {
          this.#inHand.add(deliveries)
          await this.#gate.open(signal)
        }
      } catch (error) {
        if (isJustonceError(error, 'BROKER_REFUSED') || isJustonceError(error, 'BROKER_SETUP'))
          this.#connected.reject(error)
        this.#engine.events.emit({ kind: 'loop-failed', loop: `intake of ${this.#transport.name}`, error })
      }
      if (!signal.aborted) await this.#engine.clock.sleep(1_000, signal)
    }
  }

  readonly #notice = ({ code, message }: TransportNotice): void =>
    this.#engine.events.emit({ kind: 'transport-notice', transport: this.#transport.name, code, message })

  /** If positions are kept in the store, partitions begin at those positions. */
  #restore(): Restore | undefined {
    const { positions: kept } = this.#feed
    const { positions: stored } = this.#engine.store
    if (kept === undefined || stored === undefined) return undefined
    return (partitions) => stored.load(kept.group, partitions)
  }

  /** One of several workers. An idle worker takes what has waited longest. */
  async #work(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      this.#idle++
      await this.#inHand.ready()
      await this.#gate.open(signal)
      const batch = signal.aborted ? undefined : this.#inHand.take(this.#sizes, Math.min(this.#idle, this.#room()))
      const begun = batch && this.#begin(batch)
      this.#idle--
      this.#appetite.look()
      if (batch === undefined || begun === undefined) continue
      await this.#process(batch, begun.inTurn)
      begun.ended()
    }
  }

  /** How many batches may run at once at present. */
  get #atOnce(): number {
    return this.#workers?.limit ?? this.#options.concurrency
  }

  /** How many batches run, without those that take so long that others need not wait for them. */
  get #inTime(): number {
    return this.#activity.busy - this.#overdue.batches
  }

  /** How many more batches may begin now. */
  #room(): number {
    return this.#atOnce - this.#inTime
  }

  /** Lets others know that a batch has begun, as far as it concerns them. `ended` says that it has ended. */
  #begin({ deliveries }: TakenBatch): { readonly inTurn: BatchInTurn; ended(): void } {
    const { handlersOf, slots, isLimited } = this.#engine
    const types = new Set(deliveries.map(({ message }) => message.type ?? ''))
    const free = isLimited ? slots.take([...types].flatMap((type) => handlersOf(type))) : undefined
    const inTurn = this.#sizes.begin(types)
    this.#activity.begin()
    const unwatch = this.#overdue.watch(() => {
      inTurn.end()
      this.#appetite.look()
      this.#inHand.wake()
    })
    const ended = (): void => {
      this.#activity.end()
      unwatch()
      inTurn.end()
      free?.()
      this.#inHand.wake()
    }
    return { inTurn, ended }
  }

  async #process(batch: TakenBatch, inTurn: BatchInTurn): Promise<void> {
    const { clock, events } = this.#engine
    const { deliveries } = batch
    const begunAt = clock.monotonicMs()
    const result = emptyResult()
    let waitedMs = 0
    const waited = (ms: number): void => {
      waitedMs += ms
    }
    try {
      await this.#handle(deliveries, inTurn.takesTurns ? this.#feedInTurn(inTurn, waited) : this.#feed, result)
      const ms = clock.monotonicMs() - begunAt
      this.#gate.worked()
      const pauses = { heldMs: this.#options.heldDelayMs, stoppedMs: this.#breakerPause(result.stopped) }
      const leftFor = leftBehind(result, pauses)
      const handled = deliveries.filter((delivery) => leftFor(delivery) === undefined)
      const { overheadMs, conflicts, failures } = result
      const times = { tookMs: ms - waitedMs, waitedMs, overheadMs }
      const ended = { handled, size: deliveries.length, ...times, conflicts, failures }
      const progress = this.#activity.handled(handled.length)
      this.#workers?.ended(begunAt + ms)
      this.#sizes.learn(ended, progress)
      this.#inHand.end(batch, leftFor, result)
      events.emit({ kind: 'batch', messages: deliveries.length, handled: result.settled.length, ms })
    } catch (error) {
      // Whatever the error was, nothing is acknowledged that is not committed. The others are handled again.
      const settled = new Set(result.settled)
      this.#inHand.end(batch, (delivery) => (settled.has(delivery) ? undefined : 0), result)
      this.#gate.close(error, this.#stopping.signal)
    }
    this.#appetite.look()
  }

  /** `waited` is called with the time that the batch waited for its turn. */
  #feedInTurn(inTurn: BatchInTurn, waited: (ms: number) => void): Feed {
    const { clock } = this.#engine
    const leave = (): void => inTurn.leave()
    const turn = async (): Promise<() => void> => {
      const from = clock.monotonicMs()
      await new Promise<void>((begin) => inTurn.enter(begin))
      waited(clock.monotonicMs() - from)
      return leave
    }
    return { ...this.#feed, turn }
  }

  async #handle(batch: readonly Delivery[], feed: Feed, result: BatchResult): Promise<void> {
    const { holds } = this.#inHand.heldBack
    // A delivery that can no longer be settled arrives again: handling it now would only handle it twice.
    const current = batch.filter(({ ended }) => ended?.aborted !== true)
    for (const { kind, deliveries } of await this.#quarantine.segments(current)) {
      const left = withoutFollowers(deliveries, result)
      const ours = result.lost.length === 0 ? left : await this.#withoutLost(left, result)
      const segment = { kind, deliveries: ours }
      if (segment.deliveries.length === 0) continue
      try {
        const handle = (suspicionOf: SuspicionOf): Promise<BatchResult> =>
          handleDeliveries(this.#engine, feed, segment.deliveries, suspicionOf, holds)
        addResult(result, await this.#quarantine.run(segment, handle))
      } finally {
        await this.#quarantine.ended(result)
      }
      if (result.down !== undefined) throw result.down.error
    }
  }

  /** Deliveries that follow a lost one are read again with it: starting them now would only count against them. */
  async #withoutLost(deliveries: readonly Delivery[], result: BatchResult): Promise<readonly Delivery[]> {
    const lost = lostWith(result.lost, deliveries)
    if (lost.length === 0) return deliveries
    await this.#feed.positions?.reread(lost)
    result.settled.push(...lost)
    result.lost.push(...lost)
    return deliveries.filter((delivery) => !lost.includes(delivery))
  }

  /** How long retrying them makes no sense: until a breaker admits the next message. */
  #breakerPause(deliveries: readonly Delivery[]): number {
    if (deliveries.length === 0) return 0
    const types = new Set(deliveries.map(({ message }) => message.type ?? ''))
    const handlers = [...types].flatMap((type) => this.#engine.handlersOf(type))
    return Math.max(10, ...handlers.map((handler) => this.#engine.breakers.waitMs(handler)))
  }

  #track(work: Promise<void>): void {
    this.#background.add(work)
    void work.finally(() => this.#background.delete(work))
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

  /** Their connection has ended, but no process has died with them. */
  async #forgive(deliveries: readonly Delivery[]): Promise<void> {
    try {
      await this.#quarantine.forgive(deliveries)
    } catch (error) {
      this.#engine.events.emit({ kind: 'loop-failed', loop: `intake of ${this.#transport.name}`, error })
    }
  }
}
