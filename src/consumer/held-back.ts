import type { Clock, Delivery } from '../contracts/index.ts'
import { affinityOf } from '../engine/order/chain.ts'

export interface HeldBackOptions {
  readonly clock: Clock
  /** How many deliveries may be unsettled. */
  readonly messages: number
  /** How many of these are still free. */
  free(): number
  /** Whether it has been held for so long that it would soon have to go back to the broker. */
  isOld(delivery: Delivery): boolean
  /** Called when something succeeds again and held messages should make room for it. */
  onRecovered(): void
}

/** After this long without a success, everything is considered to fail. */
const quietMs = 10_000
/** This share of the budget is parked in each such period, to see what comes after it. */
const probeShare = 1 / 4
const fewestProbes = 16

/**
 * Decides about messages whose handler a breaker has stopped: they are held in memory, or parked so that others can go
 * on.
 *
 * While other messages succeed, only messages that block no others are held, and at most as many as there is free room
 * left. While nothing succeeds, the source is paused: the whole budget is held, because a bad deploy would otherwise turn
 * a queue into parked messages. Then only two kinds are parked: a share now and then, to see whether other messages come
 * after it, and old messages, because brokers count redeliveries and finally drop the message.
 */
export class HeldBack {
  readonly #options: HeldBackOptions
  readonly #held = new Set<Delivery>()
  #wentWellAt = Number.NEGATIVE_INFINITY
  #probe = { endsAt: Number.NEGATIVE_INFINITY, left: 0 }

  constructor(options: HeldBackOptions) {
    this.#options = options
  }

  /** True if it stays in memory, false if it is parked. */
  readonly holds = (delivery: Delivery): boolean => {
    if (this.#options.isOld(delivery)) return false
    const isAlone = affinityOf(delivery) === undefined
    const isInTheWay = !isAlone || !this.#hasRoom
    const holds = this.#isPaused ? !(isInTheWay && this.#probes()) : !isInTheWay
    if (holds) this.#held.add(delivery)
    return holds
  }

  /** These are retried, settled or gone, so they are no longer held back. */
  forget(deliveries: readonly Delivery[]): void {
    if (this.#held.size > 0) for (const delivery of deliveries) this.#held.delete(delivery)
  }

  wentWell(): void {
    const wasPaused = this.#isPaused
    this.#wentWellAt = this.#options.clock.monotonicMs()
    if (wasPaused && this.#held.size > 0) this.#options.onRecovered()
  }

  get #isPaused(): boolean {
    return this.#options.clock.monotonicMs() - this.#wentWellAt > quietMs
  }

  get #hasRoom(): boolean {
    return this.#held.size < this.#options.free()
  }

  #probes(): boolean {
    const now = this.#options.clock.monotonicMs()
    if (now >= this.#probe.endsAt)
      this.#probe = { endsAt: now + quietMs, left: Math.max(fewestProbes, this.#options.messages * probeShare) }
    return this.#probe.left-- > 0
  }
}
