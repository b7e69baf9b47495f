import type { Clock, Delivery, TransportCapabilities } from '../contracts/index.ts'
import type { BatchResult } from '../engine/batch-result.ts'
import type { StoreGate } from '../loops/store-gate.ts'
import type { AdaptiveBatch } from './adaptive-batch.ts'
import { type Chain, Chains, type LeftFor, type MayBegin, type TakenBatch } from './chains.ts'
import { HeldBack } from './held-back.ts'

/** How much of a transport may be in this process without being settled. */
export interface InFlightLimits {
  readonly messages: number
  /** The total size of their bodies. */
  readonly bytes: number
  /** A delivery that has waited for longer is given back. */
  readonly ageMs: number
}

export interface InHandOptions {
  readonly clock: Clock
  readonly capabilities: Pick<TransportCapabilities, 'order' | 'keepsBehind'>
  readonly limits: InFlightLimits
  readonly gate: Pick<StoreGate, 'openForMs'>
  /** Whether a delivery may be started now, if that is not so for all at present. Call `wake` when the answer changes. */
  mayBegin(): MayBegin | undefined
  /** Whether another worker may begin now. */
  hasRoom(): boolean
  /** Gives deliveries back to the broker. */
  giveBack(deliveries: readonly Delivery[]): void
  /** Drops deliveries that can no longer be settled. */
  letGo(deliveries: readonly Delivery[]): void
}

/** However little is free, this share of the budget may wait behind a message that is being handled. */
const leastShare = 1 / 16

/**
 * What a transport has delivered and is not settled: which worker gets it, what must wait, and what is given back or
 * dropped. Messages that wait behind a slow one may use no more of the budget than is left to others, so that there is
 * always room for those.
 */
export class InHand {
  readonly heldBack: HeldBack
  readonly #options: InHandOptions
  readonly #chains = new Chains()
  readonly #timers = new Map<Chain, { cancel(): void }>()
  readonly #stopped = new Set<Chain>()
  readonly #connections = new WeakSet<AbortSignal>()
  #wakes: (() => void)[] = []
  #patrol: { cancel(): void } | undefined
  #isClosed = false
  #averageBytes = 0

  constructor(options: InHandOptions) {
    this.#options = options
    const { clock, limits } = options
    this.heldBack = new HeldBack({
      clock,
      messages: limits.messages,
      free: () => limits.messages - this.#chains.size,
      isOld: this.#isOld,
      onRecovered: () => this.resumeStopped(),
    })
  }

  /** Moving average of the body sizes. */
  get averageBytes(): number {
    return this.#averageBytes
  }

  /** How many deliveries wait in chains that cannot go on. */
  get stuck(): number {
    const mayBegin = this.#options.mayBegin()
    if (mayBegin === undefined) return this.#chains.stuck
    let begun = 0
    for (const _ of this.#chains.candidates(mayBegin)) begun++
    return this.#chains.stuck + this.#chains.readyCount - begun
  }

  add(deliveries: readonly Delivery[]): void {
    for (const { ended, message } of deliveries) {
      if (ended !== undefined) this.#watch(ended)
      this.#averageBytes += (message.body.byteLength - this.#averageBytes) / 16
    }
    const stuck = this.#chains.add(deliveries, this.#options.clock.monotonicMs())
    for (const chain of stuck) this.#makeRoom(chain)
    this.#patrolLater()
    this.wake()
  }

  /** `undefined` if another worker was faster. */
  take(sizes: AdaptiveBatch, idle: number): TakenBatch | undefined {
    const { hasRoom } = this.#options
    if (!hasRoom()) return undefined
    const mayBegin = this.#options.mayBegin()
    const batch = this.#chains.take(sizes.chooser(this.#chains.candidates(mayBegin), idle), mayBegin)
    this.heldBack.forget(batch.deliveries)
    if (batch.deliveries.length === 0) return undefined
    if (this.#wakes.length > 0 && this.#chains.canBegin(mayBegin)) this.wake()
    return batch
  }

  end(batch: TakenBatch, leftFor: LeftFor, { stopped, wentWell }: BatchResult): void {
    const isStopped = new Set(stopped)
    const lost = batch.deliveries.filter((delivery) => delivery.ended?.aborted && leftFor(delivery) !== undefined)
    if (lost.length > 0) this.#letGo(lost)
    for (const [chain, pauseMs] of this.#chains.end(batch, leftFor)) {
      if (chain.waiting.some((delivery) => isStopped.has(delivery))) this.#stopped.add(chain)
      this.#timers.set(
        chain,
        this.#options.clock.timer(pauseMs, () => this.#resume(chain)),
      )
    }
    if (wentWell > 0) this.heldBack.wentWell()
    this.wake()
  }

  /** Retries what a breaker has stopped. */
  resumeStopped(): void {
    for (const chain of [...this.#stopped]) this.#resume(chain)
  }

  /** Resolves when there may be something to do. */
  async ready(): Promise<void> {
    const { mayBegin, hasRoom } = this.#options
    if (this.#isClosed || (hasRoom() && this.#chains.canBegin(mayBegin()))) return
    await new Promise<void>((resolve) => this.#wakes.push(resolve))
  }

  /** Wakes one worker. One that takes something wakes the next, so that none wakes for nothing. */
  wake(): void {
    this.#wakes.shift()?.()
  }

  wakeAll(): void {
    for (const wake of this.#wakes.splice(0)) wake()
  }

  /** Removes and returns everything that waits, whatever for. */
  close(): readonly Delivery[] {
    this.#isClosed = true
    this.#patrol?.cancel()
    for (const timer of this.#timers.values()) timer.cancel()
    return this.#chains.remove(() => true)
  }

  readonly #isOld = (delivery: Delivery): boolean => {
    const { clock, limits } = this.#options
    return clock.monotonicMs() - this.#chains.arrivedAt(delivery) >= limits.ageMs / 2
  }

  #resume(chain: Chain): void {
    this.#timers.get(chain)?.cancel()
    this.#timers.delete(chain)
    this.#stopped.delete(chain)
    this.#chains.resume(chain)
    this.wake()
  }

  #makeRoom(chain: Chain): void {
    const { limits, giveBack } = this.#options
    const { order, keepsBehind } = this.#options.capabilities
    // A lane cannot be given back in part: there the transport leaves room for the others.
    if (order !== 'none' && !keepsBehind) return
    const keep = Math.max(limits.messages - this.#chains.size, Math.ceil(limits.messages * leastShare))
    if (chain.waiting.length <= keep) return
    if (order === 'none') this.#chains.split(chain, keep)
    else giveBack(this.#chains.takeTail(chain, keep))
  }

  #watch(connection: AbortSignal): void {
    if (this.#connections.has(connection)) return
    this.#connections.add(connection)
    const ended = () => this.#letGo(this.#chains.remove((delivery) => delivery.ended?.aborted === true))
    connection.addEventListener('abort', ended, { once: true })
  }

  #letGo(deliveries: readonly Delivery[]): void {
    this.heldBack.forget(deliveries)
    if (deliveries.length > 0) this.#options.letGo(deliveries)
  }

  #patrolLater(): void {
    const { clock, limits, gate } = this.#options
    if (this.#patrol !== undefined || this.#isClosed || limits.ageMs === Number.POSITIVE_INFINITY) return
    const pauseMs = limits.ageMs / 4
    this.#patrol = clock.timer(pauseMs, () => {
      this.#patrol = undefined
      // Messages that waited for the store are held, whatever their age, and get their turn when the store is back: a
      // broker that counts redeliveries would drop them.
      if (gate.openForMs >= pauseMs) {
        this.#giveBackOld()
        // What a breaker holds is parked if it is looked at in time.
        for (const chain of [...this.#stopped]) if (chain.waiting.some(this.#isOld)) this.#resume(chain)
      }
      if (this.#chains.size > 0) this.#patrolLater()
    })
  }

  /** Gives back what has waited for too long. Deliveries that follow it must not overtake it, and are given back too. */
  #giveBackOld(): void {
    const { clock, limits, giveBack } = this.#options
    const old = new Set(this.#chains.arrivedBefore(clock.monotonicMs() - limits.ageMs))
    const removed = old.size === 0 ? [] : this.#chains.remove((delivery) => old.has(delivery), true)
    this.heldBack.forget(removed)
    if (removed.length > 0) giveBack(removed)
  }
}
