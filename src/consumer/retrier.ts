import type { Engine } from '../engine/engine.ts'
import { giveBack, type Reservation } from '../engine/reservation.ts'
import { type Retried, reserveBehind, reserveDue, retryInOrder, retryMessages } from '../engine/retry-due.ts'
import type { Source } from '../engine/source.ts'
import type { Quarantine } from './quarantine.ts'
import { type Chunk, RetryChunks } from './retry-chunks.ts'
import type { StoreGate } from './store-gate.ts'

export interface RetrierOptions {
  readonly pollMs: number
  /** The most of one order key that are tried together. */
  readonly batch: number
  /** Attempts at once. */
  readonly concurrency: number
}

const longestPauseMs = 30_000

/** Gives due parked messages their next attempt. Every process runs one; the rows they hold keep them apart. */
export class Retrier<Tx> {
  readonly #engine: Engine<Tx>
  readonly #source: Source
  readonly #gate: StoreGate
  readonly #quarantine: Quarantine<Tx>
  readonly #options: RetrierOptions
  readonly #stopping = new AbortController()
  readonly #chunks = new RetryChunks()
  readonly #attempts = new Map<Chunk, Promise<void>>()
  /** Reserved, and waiting for a place. */
  #queue: Chunk[] = []
  /** Reserved by us, and not tried: to be given back. */
  #untried: Reservation[] = []
  #sleeping: AbortController | undefined
  #isWoken = false
  #failuresInARow = 0
  #running: Promise<void> | undefined

  constructor(
    engine: Engine<Tx>,
    source: Source,
    { gate, quarantine }: { readonly gate: StoreGate; readonly quarantine: Quarantine<Tx> },
    options: RetrierOptions,
  ) {
    this.#engine = engine
    this.#source = source
    this.#gate = gate
    this.#quarantine = quarantine
    this.#options = options
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#wake()
    await this.#running
    await Promise.all(this.#attempts.values())
    this.#untried.push(...this.#queue.flatMap(({ reservations }) => reservations))
    this.#queue = []
    await this.#giveBack().catch((error) => this.#engine.events.emit({ kind: 'loop-failed', loop: 'retries', error }))
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    const { clock } = this.#engine
    while (!signal.aborted) {
      await this.#gate.open(signal)
      if (signal.aborted) return
      const begunAt = clock.monotonicMs()
      try {
        await this.#giveBack()
        if (this.#queue.length === 0) await this.#reserve()
        this.#failuresInARow = 0
      } catch (error) {
        this.#failuresInARow++
        this.#failed(error)
      }
      const tookMs = clock.monotonicMs() - begunAt
      if (signal.aborted) return
      const hasStarted = this.#startNext()
      if (hasStarted && this.#freePlaces() > 0) continue
      // Where looking takes long, it is done less often: otherwise it would be all that the database does.
      const { pollMs } = this.#options
      const wantedMs = Math.max(tookMs * 4, pollMs * 2 ** Math.min(this.#failuresInARow, 10))
      await this.#sleep(Math.max(pollMs, Math.min(wantedMs, longestPauseMs)))
    }
  }

  /** Others go first where one handler has nearly all places: what is slow must not keep everybody waiting. */
  async #reserve(): Promise<void> {
    const free = this.#freePlaces()
    if (free === 0) return
    const limit = free * this.#chunks.most
    const except = this.#hogs()
    let reserved = await reserveDue(this.#engine, { limit, except })
    if (reserved.length === 0 && except.size > 0) reserved = await reserveDue(this.#engine, { limit })
    this.#queue = this.#chunks.split(reserved, reserved.length >= limit)
  }

  #hogs(): ReadonlySet<string> {
    const most = this.#options.concurrency - 1
    const places = Map.groupBy(this.#attempts.keys(), ({ handler }) => handler)
    return new Set([...places].filter(([, chunks]) => most > 0 && chunks.length >= most).map(([handler]) => handler))
  }

  #freePlaces(): number {
    return this.#options.concurrency - this.#attempts.size
  }

  #startNext(): boolean {
    let hasStarted = false
    while (this.#freePlaces() > 0) {
      const chunk = this.#queue.shift()
      if (chunk === undefined) break
      hasStarted = true
      const attempt = this.#attempt(chunk)
        .catch((error) => this.#failed(error))
        .finally(() => this.#attempts.delete(chunk))
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
        // Its turn may have come too late.
        if (this.#stopping.signal.aborted) return { untried: reservations, background: [] }
        const begunAt = clock.monotonicMs()
        const retried = await this.#retry(chunk, reservations)
        this.#chunks.learn(chunk, clock.monotonicMs() - begunAt)
        return retried
      }
      const { untried } = await (chunk.kind === 'suspect'
        ? this.#quarantine.alone(retry)
        : this.#quarantine.together(retry))
      this.#untried.push(...untried)
      // What a breaker stops stays due: going on at once would only find it again.
      if (untried.length < reservations.length) this.#wake()
    } catch (error) {
      this.#untried.push(...reservations)
      throw error
    }
  }

  #retry({ kind }: Chunk, reservations: readonly Reservation[]): Promise<Retried> {
    const retry = kind === 'ordered' ? retryInOrder : retryMessages
    return retry(this.#engine, this.#source, reservations, (letter) => this.#quarantine.condemn(letter, letter.begun))
  }

  async #withFollowers(reservations: readonly Reservation[]): Promise<readonly Reservation[]> {
    const [head] = reservations
    if (head === undefined) return reservations
    const behind = await reserveBehind(this.#engine, head, { limit: this.#options.batch - 1 })
    const firstSuspect = behind.findIndex(({ letter }) => letter.begun > 0)
    if (firstSuspect === -1) return [head, ...behind]
    this.#untried.push(...behind.slice(firstSuspect))
    return [head, ...behind.slice(0, firstSuspect)]
  }

  #failed(error: unknown): void {
    if (this.#engine.store.classify(error) === 'unavailable') this.#gate.close(error, this.#stopping.signal)
    else this.#engine.events.emit({ kind: 'loop-failed', loop: 'retries', error })
  }

  async #giveBack(): Promise<void> {
    const untried = [...this.#untried]
    if (untried.length === 0) return
    await giveBack(this.#engine, untried)
    this.#untried = this.#untried.slice(untried.length)
  }

  /** Until then, or until there may be more to do. */
  async #sleep(ms: number): Promise<void> {
    const waking = new AbortController()
    this.#sleeping = waking
    if (!this.#isWoken) await this.#engine.clock.sleep(ms, waking.signal)
    this.#sleeping = undefined
    this.#isWoken = false
  }

  #wake(): void {
    this.#isWoken = true
    this.#sleeping?.abort()
  }
}
