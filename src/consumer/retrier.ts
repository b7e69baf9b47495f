import type { StoredParkedMessage } from '../contracts/index.ts'
import { isForQueue } from '../encoding/outgoing-queue.ts'
import { unrouted } from '../encoding/unrouted.ts'
import type { Engine } from '../engine/engine.ts'
import type { Feed } from '../engine/feed.ts'
import type { Handler } from '../engine/handler.ts'
import { giveBack, type Reservation } from '../engine/retries/reservation.ts'
import { type Retried, reserveBehind, reserveDue, retryMessages } from '../engine/retries/retry-due.ts'
import { sendAgain } from '../engine/retries/send-again.ts'
import { type Gate, Loop } from '../loops/loop.ts'
import type { Quarantine } from './quarantine.ts'
import { type Chunk, RetryChunks } from './retry-chunks.ts'

export interface RetrierOptions {
  readonly pollMs: number
  /** The largest number of messages of one order key that are tried together. */
  readonly batch: number
  /** How many attempts may run at once. */
  readonly concurrency: number
}

const longestPauseMs = 30_000

/** Gives due parked messages their next attempt. Every process runs one; row reservations keep them apart. */
export class Retrier<Tx> {
  readonly #engine: Engine<Tx>
  readonly #feed: Feed
  readonly #loop: Loop
  readonly #quarantine: Quarantine<Tx>
  readonly #options: RetrierOptions
  readonly #chunks = new RetryChunks()
  readonly #attempts = new Map<Chunk, Promise<void>>()
  #stopListening = (): void => {}
  /** Reserved, and waiting for a free place. */
  #queue: Chunk[] = []
  /** Reserved by us but not tried, so they must be given back. */
  #untried: Reservation[] = []

  constructor(
    engine: Engine<Tx>,
    feed: Feed,
    { gate, quarantine }: { readonly gate: Gate; readonly quarantine: Quarantine<Tx> },
    options: RetrierOptions,
  ) {
    this.#engine = engine
    this.#feed = feed
    this.#quarantine = quarantine
    this.#options = options
    const { clock, events } = engine
    this.#loop = new Loop({
      name: 'retries',
      clock,
      events,
      gate,
      round: (signal) => this.#round(signal),
      afterFailure: { leastMs: options.pollMs, mostMs: longestPauseMs },
    })
  }

  start(): void {
    this.#stopListening = this.#engine.slots.onFreed(() => this.#startNext())
    this.#loop.start()
  }

  wake(): void {
    this.#loop.wake()
  }

  async stop(): Promise<void> {
    this.#stopListening()
    await this.#loop.stop()
    await Promise.all(this.#attempts.values())
    this.#untried.push(...this.#queue.flatMap(({ reservations }) => reservations))
    this.#queue = []
    await this.#giveBack().catch((error) => this.#loop.failed(error))
  }

  async #round(signal: AbortSignal): Promise<number> {
    const { clock } = this.#engine
    const begunAt = clock.monotonicMs()
    // First, so that it happens even if the store refuses the rest.
    this.#startNext()
    await this.#giveBack()
    if (!this.#queue.some((chunk) => this.#mayStart(chunk))) await this.#reserve()
    const tookMs = clock.monotonicMs() - begunAt
    if (signal.aborted) return 0
    if (this.#startNext() && this.#freePlaces() > 0) return 0
    // If looking takes long, it is done less often: otherwise the database would do nothing else.
    return Math.max(this.#options.pollMs, Math.min(tookMs * 4, longestPauseMs))
  }

  /** If one handler has nearly all places, other handlers go first: a slow handler must not keep all others waiting. */
  async #reserve(): Promise<void> {
    const free = this.#freePlaces()
    if (free === 0) return
    const limit = free * this.#chunks.most
    if (this.#queue.length >= limit) return
    // These handlers already have as many attempts as they allow, so more of their messages would only wait here.
    const waiting = new Set(this.#queue.map(({ handler }) => handler))
    // Outgoing messages must not overtake those that are being moved.
    for (const { handler } of this.#attempts.keys()) if (isForQueue(handler)) waiting.add(handler)
    const hogs = this.#hogs()
    let reserved = await reserveDue(this.#engine, { limit, except: new Set([...waiting, ...hogs]) })
    if (reserved.length === 0 && hogs.size > 0) reserved = await reserveDue(this.#engine, { limit, except: waiting })
    this.#queue.push(...this.#chunks.split(reserved, reserved.length >= limit))
  }

  #hogs(): ReadonlySet<string> {
    const most = this.#options.concurrency - 1
    const places = Map.groupBy(this.#attempts.keys(), ({ handler }) => handler)
    return new Set([...places].filter(([, chunks]) => most > 0 && chunks.length >= most).map(([handler]) => handler))
  }

  #mayStart(chunk: Chunk): boolean {
    return this.#engine.slots.areFree(this.#handlersOf(chunk))
  }

  /** A message that reached no handler may be for any handler of its type. */
  #handlersOf({ handler: name, reservations }: Chunk): readonly Handler<Tx>[] {
    if (name === unrouted) return reservations.flatMap(({ letter }) => this.#engine.handlersOf(letter.type))
    const handler = this.#engine.handlerNamed(name)
    return handler === undefined ? [] : [handler]
  }

  #freePlaces(): number {
    return this.#options.concurrency - this.#attempts.size
  }

  #startNext(): boolean {
    let hasStarted = false
    while (this.#freePlaces() > 0) {
      const next = this.#queue.findIndex((each) => this.#mayStart(each))
      const [chunk] = next < 0 ? [] : this.#queue.splice(next, 1)
      if (chunk === undefined) break
      hasStarted = true
      const free = this.#engine.slots.take(this.#handlersOf(chunk))
      const attempt = this.#attempt(chunk)
        .catch((error) => this.#loop.failed(error))
        .finally(() => {
          this.#attempts.delete(chunk)
          free()
        })
      this.#attempts.set(chunk, attempt)
    }
    return hasStarted
  }

  async #attempt(chunk: Chunk): Promise<void> {
    const { clock } = this.#engine
    let reservations = chunk.reservations
    try {
      if (chunk.kind === 'ordered') reservations = await this.#withFollowers(reservations)
      const retry = async (): Promise<Retried> => {
        // The loop may have been stopped while it waited for its turn.
        if (this.#loop.signal.aborted) return { untried: reservations, background: [] }
        const begunAt = clock.monotonicMs()
        const retried = await this.#retry(chunk, reservations)
        this.#chunks.learn(chunk, clock.monotonicMs() - begunAt)
        return retried
      }
      const { untried } = await (chunk.kind === 'suspect'
        ? this.#quarantine.alone(retry)
        : this.#quarantine.together(retry))
      this.#untried.push(...untried)
      // What a breaker stops stays due: continuing immediately would only find it again.
      if (untried.length < reservations.length) this.#loop.wake()
      if (reservations.some(({ letter }) => letter.redrive !== undefined)) this.#engine.wake('redrives')
    } catch (error) {
      this.#untried.push(...reservations)
      throw error
    }
  }

  #retry({ handler }: Chunk, reservations: readonly Reservation[]): Promise<Retried> {
    if (isForQueue(handler)) return sendAgain(this.#engine, reservations)
    const suspicionOf = (letter: StoredParkedMessage) => this.#quarantine.condemn(letter, letter.begun)
    return retryMessages(this.#engine, this.#feed, reservations, suspicionOf)
  }

  async #withFollowers(reservations: readonly Reservation[]): Promise<readonly Reservation[]> {
    const [head] = reservations
    if (head === undefined) return reservations
    const behind = await reserveBehind(this.#engine, head, { limit: this.#options.batch - 1 })
    // A suspect runs alone, and another app may have a handler of this name for messages of another type.
    const end = behind.findIndex(({ letter }) => letter.begun > 0 || letter.type !== head.letter.type)
    if (end === -1) return [head, ...behind]
    this.#untried.push(...behind.slice(end))
    return [head, ...behind.slice(0, end)]
  }

  async #giveBack(): Promise<void> {
    const untried = [...this.#untried]
    if (untried.length === 0) return
    await giveBack(this.#engine, untried)
    this.#untried = this.#untried.slice(untried.length)
  }
}
