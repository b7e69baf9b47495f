import type { Clock, Events, Store } from '../contracts/index.ts'
import type { Gate } from './loop.ts'

/** Shared, because a worker asks before each batch, and the gate is nearly always open. */
const opened = Promise.resolve()

/**
 * Closed while the store is down: nothing is taken or handled, and everything in hand is held. Deliveries are not given
 * back meanwhile, because brokers drop or dead-letter messages that are returned too often.
 */
export class StoreGate implements Gate {
  readonly #store: Pick<Store, 'ping' | 'classify'>
  readonly #clock: Clock
  readonly #events: Events
  #reopening: Promise<void> | undefined
  #failuresInARow = 0
  #openedAt = Number.NEGATIVE_INFINITY

  constructor(store: Pick<Store, 'ping' | 'classify'>, clock: Clock, events: Events) {
    this.#store = store
    this.#clock = clock
    this.#events = events
  }

  get isOpen(): boolean {
    return this.#reopening === undefined
  }

  /** How long the gate has been open; 0 while it is closed. */
  get openForMs(): number {
    return this.isOpen ? this.#clock.monotonicMs() - this.#openedAt : 0
  }

  /** Resolves when the store can be used, or when the signal is aborted. */
  open(signal: AbortSignal): Promise<void> {
    return this.#reopening === undefined || signal.aborted ? opened : this.#opening(this.#reopening, signal)
  }

  async #opening(reopening: Promise<void>, signal: AbortSignal): Promise<void> {
    const { promise: aborted, resolve } = Promise.withResolvers<void>()
    const onAbort = () => resolve()
    signal.addEventListener('abort', onAbort, { once: true })
    await Promise.race([reopening, aborted])
    signal.removeEventListener('abort', onAbort)
  }

  worked(): void {
    this.#failuresInARow = 0
  }

  closesFor(error: unknown, signal: AbortSignal): boolean {
    const isDown = this.#store.classify(error) === 'unavailable'
    if (isDown) this.close(error, signal)
    return isDown
  }

  close(error: unknown, signal: AbortSignal): void {
    // Several lanes detect the same outage.
    if (this.#reopening !== undefined) return
    this.#failuresInARow++
    this.#events.emit({ kind: 'store-down', error })
    this.#reopening = this.#probe(signal).finally(() => {
      this.#reopening = undefined
      this.#openedAt = this.#clock.monotonicMs()
    })
  }

  async #probe(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // The wait also slows down work on a store that answers the probe but fails at work.
      const waitMs = Math.min(50 * 2 ** Math.min(this.#failuresInARow, 7), 5_000)
      await this.#clock.sleep(waitMs * (0.5 + this.#clock.random()), signal)
      if (signal.aborted) return
      try {
        await this.#store.ping()
        this.#events.emit({ kind: 'store-up' })
        return
      } catch {
        this.#failuresInARow++
      }
    }
  }
}
