import type { Delivery } from '../contracts/index.ts'
import { affinityOf } from '../engine/order/chain.ts'

/**
 * Deliveries that are handled one after the other: those of one lane of the transport, those of one key, or a single
 * delivery that has neither. Only one worker at a time has a chain.
 */
export interface Chain {
  readonly name: string | undefined
  /** In order, without the deliveries that a worker has. */
  readonly waiting: Delivery[]
  /** `taken`: a worker has it. `aside`: its first delivery must wait for something else. */
  state: 'ready' | 'taken' | 'aside'
}

/** Some deliveries of some chains. Those of each chain start with its first and are in order. */
export interface TakenBatch {
  readonly deliveries: readonly Delivery[]
  readonly chains: ReadonlySet<Chain>
}

/** How long a delivery that is left must wait, 0 for not at all; `undefined` if it is not left. */
export type LeftFor = (delivery: Delivery) => number | undefined

/** Whether a delivery may be started now. */
export type MayBegin = (delivery: Delivery) => boolean

const always: MayBegin = () => true

interface Arrival {
  chain: Chain
  readonly number: number
  readonly atMs: number
}

/**
 * Everything that was delivered and is not settled. An idle worker takes from the chains that are ready, the one with the
 * oldest delivery first, so that nothing waits forever. What is left of a chain comes before everything that arrived
 * later.
 */
export class Chains {
  readonly #named = new Map<string, Chain>()
  /** Sorted by the age of the first waiting delivery. */
  readonly #ready: Chain[] = []
  /** In order of arrival. */
  readonly #arrivals = new Map<Delivery, Arrival>()
  #arrived = 0
  /** How many deliveries wait in chains that are not ready. */
  #stuck = 0

  /** How many deliveries are unsettled in total. */
  get size(): number {
    return this.#arrivals.size
  }

  get stuck(): number {
    return this.#stuck
  }

  /** Whether something could be taken now. */
  canBegin(mayBegin: MayBegin = always): boolean {
    return this.#ready.some(({ waiting }) => mayBegin(waiting[0] as Delivery))
  }

  /** How many deliveries wait in chains that are ready. */
  get readyCount(): number {
    return this.#ready.reduce((count, { waiting }) => count + waiting.length, 0)
  }

  /** Returns the chains that received more although they cannot go on. */
  add(deliveries: readonly Delivery[], nowMs: number): ReadonlySet<Chain> {
    const stuck = new Set<Chain>()
    for (const delivery of deliveries) {
      const chain = this.#chainOf(affinityOf(delivery))
      this.#arrivals.set(delivery, { chain, number: this.#arrived++, atMs: nowMs })
      const isNew = chain.waiting.push(delivery) === 1
      if (chain.state !== 'ready') {
        this.#stuck++
        stuck.add(chain)
      } else if (isNew) this.#makeReady(chain)
    }
    return stuck
  }

  /** The deliveries that could be taken now, in the order in which they would be. */
  *candidates(mayBegin: MayBegin = always): Generator<Delivery, void, void> {
    for (const chain of this.#ready) {
      for (const delivery of chain.waiting) {
        if (!mayBegin(delivery)) break
        yield delivery
      }
    }
  }

  /**
   * Takes candidates for as long as they are wanted. The caller has their chains until `end`. A delivery that may not begin
   * stays where it is, and so do those that follow it.
   */
  take(isWanted: (delivery: Delivery) => boolean, mayBegin: MayBegin = always): TakenBatch {
    const deliveries: Delivery[] = []
    const chains = new Set<Chain>()
    /** Those among the chains that were looked at which stay. */
    const left: Chain[] = []
    let lookedAt = 0
    let isFull = false
    while (!isFull && lookedAt < this.#ready.length) {
      const chain = this.#ready[lookedAt++] as Chain
      let wanted = 0
      for (const delivery of chain.waiting) {
        if (!mayBegin(delivery)) break
        isFull = !isWanted(delivery)
        if (isFull) break
        wanted++
      }
      if (wanted === 0) {
        left.push(chain)
        continue
      }
      deliveries.push(...chain.waiting.splice(0, wanted))
      chain.state = 'taken'
      this.#stuck += chain.waiting.length
      chains.add(chain)
    }
    // All at once: to remove one after the other would move all that stay as often.
    this.#ready.splice(0, lookedAt, ...left)
    return { deliveries, chains }
  }

  /**
   * A delivery that is not left is settled. The rest of a chain waits as long as its longest pause. Returns the chains
   * that wait.
   */
  end({ deliveries, chains }: TakenBatch, leftFor: LeftFor): ReadonlyMap<Chain, number> {
    const left = new Map<Chain, Delivery[]>()
    const pauses = new Map<Chain, number>()
    for (const delivery of deliveries) {
      const pauseMs = delivery.ended?.aborted ? undefined : leftFor(delivery)
      const chain = this.#arrivals.get(delivery)?.chain
      if (pauseMs === undefined || chain === undefined) this.#arrivals.delete(delivery)
      else {
        const others = left.get(chain)
        if (others === undefined) left.set(chain, [delivery])
        else others.push(delivery)
        if (pauseMs > 0) pauses.set(chain, Math.max(pauseMs, pauses.get(chain) ?? 0))
      }
    }
    for (const chain of chains) {
      this.#stuck -= chain.waiting.length
      chain.waiting.unshift(...(left.get(chain) ?? []))
      if (pauses.has(chain)) {
        chain.state = 'aside'
        this.#stuck += chain.waiting.length
      } else this.#makeReady(chain)
    }
    return pauses
  }

  resume(chain: Chain): void {
    if (chain.state !== 'aside') return
    this.#stuck -= chain.waiting.length
    this.#makeReady(chain)
  }

  /**
   * Moves the waiting deliveries of a chain beyond `keep` to a chain of their own. For use where no order is promised and
   * room is short.
   */
  split(chain: Chain, keep: number): void {
    const tail: Chain = { name: undefined, waiting: this.#cut(chain, keep), state: 'ready' }
    for (const delivery of tail.waiting) (this.#arrivals.get(delivery) as Arrival).chain = tail
    this.#makeReady(tail)
  }

  /** Removes the waiting deliveries of a chain beyond `keep`, so that they can be given back. */
  takeTail(chain: Chain, keep: number): readonly Delivery[] {
    const tail = this.#cut(chain, keep)
    for (const delivery of tail) this.#arrivals.delete(delivery)
    return tail
  }

  /**
   * Removes all waiting deliveries that must go. With `andFollowers`, deliveries that follow them in their chain are removed
   * too, because they must not overtake them.
   */
  remove(mustGo: (delivery: Delivery) => boolean, andFollowers = false): readonly Delivery[] {
    const removed: Delivery[] = []
    for (const chain of this.#all()) {
      const first = chain.waiting.findIndex(mustGo)
      if (first < 0) continue
      const tail = this.#cut(chain, first)
      const [gone, kept] = andFollowers ? [tail, []] : [tail.filter(mustGo), tail.filter((each) => !mustGo(each))]
      for (const delivery of gone) this.#arrivals.delete(delivery)
      removed.push(...gone)
      chain.waiting.push(...kept)
      if (chain.state !== 'ready') this.#stuck += kept.length
      if (first > 0 || chain.state === 'taken') continue
      if (chain.state === 'ready') {
        this.#ready.splice(this.#ready.indexOf(chain), 1)
        this.#makeReady(chain)
      } else if (chain.waiting.length === 0) this.#forget(chain)
    }
    return removed
  }

  /** The deliveries that arrived before the given time, whatever they wait for. */
  *arrivedBefore(ms: number): Generator<Delivery, void, void> {
    for (const [delivery, { atMs }] of this.#arrivals) {
      if (atMs >= ms) return
      yield delivery
    }
  }

  /** When the delivery arrived; infinity if it is not here. */
  arrivedAt(delivery: Delivery): number {
    return this.#arrivals.get(delivery)?.atMs ?? Number.POSITIVE_INFINITY
  }

  #all(): ReadonlySet<Chain> {
    return new Set([...this.#arrivals.values()].map(({ chain }) => chain))
  }

  #cut(chain: Chain, keep: number): Delivery[] {
    const tail = chain.waiting.splice(keep)
    if (chain.state !== 'ready') this.#stuck -= tail.length
    return tail
  }

  #chainOf(name: string | undefined): Chain {
    const known = name === undefined ? undefined : this.#named.get(name)
    if (known !== undefined) return known
    const chain: Chain = { name, waiting: [], state: 'ready' }
    if (name !== undefined) this.#named.set(name, chain)
    return chain
  }

  #makeReady(chain: Chain): void {
    chain.state = 'ready'
    const [first] = chain.waiting
    if (first === undefined) {
      this.#forget(chain)
      return
    }
    const age = this.#numberOf(first)
    let place = this.#ready.length
    // Usually it is the youngest.
    while (place > 0 && this.#numberOf((this.#ready[place - 1] as Chain).waiting[0] as Delivery) > age) place--
    this.#ready.splice(place, 0, chain)
  }

  #numberOf(delivery: Delivery): number {
    return this.#arrivals.get(delivery)?.number ?? 0
  }

  #forget(chain: Chain): void {
    const { name } = chain
    if (name !== undefined && this.#named.get(name) === chain) this.#named.delete(name)
  }
}
