import type { Clock, Delivery } from '../contracts/index.ts'
import { affinityOf } from './chains.ts'

export interface HeldBackOptions {
  readonly clock: Clock
  /** The most that may be unsettled. */
  readonly messages: number
  /** How much of that is free. */
  free(): number
  /** It has been held for so long that it would soon have to go back to the broker. */
  isOld(delivery: Delivery): boolean
  /** Something goes well again: what is held back should make room for it. */
  onRecovered(): void
}

/** After so long without anything that went well, everything fails. */
const quietMs = 10_000
/** So much of the budget is parked in that time to see what stands behind it. */
const probeShare = 1 / 4
const fewestProbes = 16

/**
 * Decides about messages whose handler a breaker has stopped: kept in hand, or parked so that others can go on.
 *
 * While other things go well, only what stands in nobody's way is kept, and no more than as much again is free. While
 * nothing does, the source is paused: all of its budget is kept, or a bad deploy would turn a queue into parked messages.
 * Only a part of it is parked now and then, to see whether there is something else behind it, and what is old: brokers
 * count what comes back, and drop it in the end.
 */
export class HeldBack {
  readonly #options: HeldBackOptions
  readonly #held = new Set<Delivery>()
  #wentWellAt = Number.NEGATIVE_INFINITY
  #probe = { endsAt: Number.NEGATIVE_INFINITY, left: 0 }

  constructor(options: HeldBackOptions) {
    this.#options = options
  }

  /** True: it stays in hand. False: it is parked. */
  readonly holds = (delivery: Delivery): boolean => {
    if (this.#options.isOld(delivery)) return false
    const isAlone = affinityOf(delivery) === undefined
    const isInTheWay = !isAlone || !this.#hasRoom
    const holds = this.#isPaused ? !(isInTheWay && this.#probes()) : !isInTheWay
    if (holds) this.#held.add(delivery)
    return holds
  }

  /** They are tried again, settled or gone: whatever they are now, they are not held back. */
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
