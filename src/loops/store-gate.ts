import { inTime } from '../clock/index.ts'
import type { Clock, Events, Store } from '../contracts/index.ts'
import type { Gate } from './loop.ts'

/** Shared, because a worker asks before each batch, and the gate is nearly always open. */
const opened = Promise.resolve()

/** A single connection that was closed says nothing about the store, and some clients take a moment to open another one. */
const unansweredProbes = 2
/** If a probe takes longer, the store counts as down; the answer is still awaited. */
const slowProbeMs = 1_000
/** A failure so long after the one before it is a new one, even if nobody has said that something worked. */
const forgottenAfterMs = 5 * 60_000

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
    if (this.openForMs >= forgottenAfterMs) this.#failuresInARow = 0
    this.#failuresInARow++
    this.#reopening = this.#reopen(error, signal).finally(() => {
      this.#reopening = undefined
      this.#openedAt = this.#clock.monotonicMs()
    })
  }

  /** `store-down` is emitted when probes are not answered, or when the store has answered them and yet fails again. */
  async #reopen(error: unknown, signal: AbortSignal): Promise<void> {
    let isReported = false
    const report = (): void => {
      if (!isReported) this.#events.emit({ kind: 'store-down', error })
      isReported = true
    }
    if (this.#failuresInARow > 1) report()
    for (let unanswered = 0; !signal.aborted; this.#failuresInARow++) {
      // The wait also slows down work on a store that answers the probe but fails at work.
      const waitMs = Math.min(50 * 2 ** Math.min(this.#failuresInARow, 7), 5_000)
      await this.#clock.sleep(waitMs * (0.5 + this.#clock.random()), signal)
      if (signal.aborted) return
      if (await this.#answers(report)) {
        if (isReported) this.#events.emit({ kind: 'store-up' })
        return
      }
      if (++unanswered >= unansweredProbes) report()
    }
  }

  async #answers(whenSlow: () => void): Promise<boolean> {
    const answer = this.#store.ping().then(
      () => true,
      () => false,
    )
    if ((await inTime(answer, { clock: this.#clock, withinMs: slowProbeMs })) === undefined) whenSlow()
    return await answer
  }
}
