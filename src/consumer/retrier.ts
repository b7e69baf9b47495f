import type { StoredParkedMessage } from '../contracts/index.ts'
import type { Engine } from '../engine/engine.ts'
import { reserveDue, retryMessages } from '../engine/retry-due.ts'
import type { Source } from '../engine/source.ts'
import type { Quarantine } from './quarantine.ts'
import type { StoreGate } from './store-gate.ts'

export interface RetrierOptions {
  readonly pollMs: number
  /** The most that are tried together. */
  readonly batch: number
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
  /** Reserved by us, and not tried: nobody has died with them. */
  #untried: readonly StoredParkedMessage[] = []
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
    await this.#running
    await this.#forgive().catch((error) => this.#engine.events.emit({ kind: 'loop-failed', loop: 'retries', error }))
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    const { clock } = this.#engine
    while (!signal.aborted) {
      await this.#gate.open(signal)
      if (signal.aborted) return
      const begunAt = clock.monotonicMs()
      try {
        await this.#forgive()
        if (await this.#retryDue(signal)) continue
      } catch (error) {
        if (this.#engine.store.classify(error) === 'unavailable') this.#gate.close(error, signal)
        else this.#engine.events.emit({ kind: 'loop-failed', loop: 'retries', error })
      }
      // Where looking takes long, it is done less often: otherwise it would be all that the database does.
      const tookMs = clock.monotonicMs() - begunAt
      await clock.sleep(Math.max(this.#options.pollMs, Math.min(tookMs * 4, longestPauseMs)), signal)
    }
  }

  /** Resolves to whether there may be more. */
  async #retryDue(signal: AbortSignal): Promise<boolean> {
    const letters = await reserveDue(this.#engine, this.#options.batch)
    this.#untried = letters
    const [first] = letters
    if (first === undefined || signal.aborted) return false
    const isSuspect = (letter: StoredParkedMessage): boolean => letter.begun > 1
    const now = isSuspect(first) ? [first] : letters.filter((letter) => !isSuspect(letter))
    // Given back before the others begin, so that nobody is blamed for a death that came before its turn.
    this.#untried = letters.filter((letter) => !now.includes(letter))
    await this.#forgive()
    this.#untried = now
    const retry = () =>
      retryMessages(this.#engine, this.#source, now, (letter) => this.#quarantine.condemn(letter, letter.begun - 1))
    const { untried } = await (isSuspect(first) ? this.#quarantine.alone(retry) : this.#quarantine.together(retry))
    this.#untried = untried
    // What a breaker stops stays due: going on at once would only find it again.
    return untried.length < now.length
  }

  async #forgive(): Promise<void> {
    if (this.#untried.length === 0) return
    await this.#engine.store.parking.forgive(this.#untried)
    this.#untried = []
  }
}
