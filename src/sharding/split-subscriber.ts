import type { Delivery, Subscriber, TransportNotice } from '../contracts/index.ts'
import { Branch } from './branch.ts'
import { roomFor } from './room.ts'
import { type ShardOf, shardOrError, whyNotHere } from './shard-or-error.ts'
import { sharedQuestions } from './shared-questions.ts'

type Reading = Parameters<Subscriber['deliveries']>[0]

export interface SplitOptions extends ShardOf {
  /** Has the dead letters of messages whose shard is not known. */
  readonly unknown: string
  /** How many messages may wait here for a shard that does not take them. */
  readonly holdMost: number
}

/** One reading of the source. */
interface Life {
  readonly end: AbortController
  ended: Promise<void>
  isConnected: boolean
}

/**
 * Reads one source and hands each message to the shard that it belongs to. A shard that takes nothing, because its database is down,
 * holds its own messages and no others. What cannot be assigned is given up: a dead letter in a place that was agreed on.
 */
export class SplitSubscriber {
  readonly #source: Subscriber
  readonly #options: SplitOptions
  readonly #branches: ReadonlyMap<string, Branch>
  readonly #questions: Pick<Subscriber, 'redeliversForMs' | 'inspect'>
  readonly #wakers = new Set<() => void>()
  readonly #readings = new Map<Branch, Reading>()
  readonly #open: Set<string>
  #life: Life | undefined
  /** Why the source is not read any more; it may also simply have ended. */
  #over: { readonly error?: unknown } | undefined
  #before: Promise<void> = Promise.resolve()

  constructor(source: Subscriber, options: SplitOptions) {
    this.#source = source
    this.#options = options
    this.#branches = new Map(options.shards.map((shard) => [shard, new Branch(shard)]))
    this.#open = new Set(options.shards)
    this.#questions = sharedQuestions(source)
  }

  of(shard: string): Subscriber {
    const source = this.#source
    const branch = this.#branches.get(shard) as Branch
    return {
      name: source.name,
      capabilities: source.capabilities,
      inFlight: source.inFlight,
      ...this.#questions,
      stillGivenUp: (message) => whyNotHere(message, shard, this.#options),
      deliveries: (options) => this.#deliveries(branch, options),
      settle: async (deliveries, settlement) => {
        const behind = settlement.kind === 'release' ? this.#behind(branch, deliveries) : []
        branch.settled(deliveries)
        this.#grown()
        await source.settle([...deliveries, ...behind], settlement)
      },
      close: async () => {
        if (!this.#open.delete(shard) || this.#open.size > 0) return
        await this.#end()
        await source.close()
      },
    }
  }

  async *#deliveries(branch: Branch, options: Reading): AsyncGenerator<readonly Delivery[]> {
    const stop = branch.begin(options.maxInFlight, options.appetite)
    const stopGrowing = options.appetite?.onGrown(() => this.#grown())
    const abort = () => branch.wake()
    options.signal.addEventListener('abort', abort)
    this.#readings.set(branch, options)
    try {
      this.#begin(options)
      if (this.#life?.isConnected) options.connected?.()
      while (!options.signal.aborted && this.#over === undefined) {
        const { changed } = branch
        const taken = branch.take()
        if (taken.length > 0) yield taken
        else await changed
      }
      if (this.#over !== undefined && 'error' in this.#over) throw this.#over.error
    } finally {
      stop()
      stopGrowing?.()
      options.signal.removeEventListener('abort', abort)
      this.#readings.delete(branch)
      if (this.#readings.size === 0) await this.#end()
    }
  }

  #begin(options: Reading): void {
    if (this.#life !== undefined) return
    this.#over = undefined
    // Set before reading begins, because a source may say at once that it is connected.
    const life: Life = { end: new AbortController(), ended: Promise.resolve(), isConnected: false }
    this.#life = life
    life.ended = this.#read(life, this.#readingOf(options, life))
    this.#before = life.ended
  }

  async #read(life: Life, reading: Reading): Promise<void> {
    const before = this.#before
    let over: { readonly error?: unknown } = {}
    try {
      await before
      for await (const deliveries of this.#source.deliveries(reading)) this.#assign(deliveries)
    } catch (error) {
      over = { error }
    }
    for (const branch of this.#branches.values()) branch.letGo()
    if (this.#life !== life) return
    this.#over = over
    this.#life = undefined
    for (const branch of this.#branches.values()) branch.wake()
  }

  #readingOf({ maxInFlight, maxBytes }: Reading, life: Life): Reading {
    const branches = [...this.#branches.values()]
    const room = roomFor(branches, { maxInFlight, maxBytes, holdMost: this.#options.holdMost }, this.#source.inFlight)
    return {
      signal: life.end.signal,
      maxInFlight: room.messages,
      ...(room.bytes !== undefined && { maxBytes: room.bytes }),
      appetite: {
        now: room.now,
        onGrown: (wake) => {
          this.#wakers.add(wake)
          return () => this.#wakers.delete(wake)
        },
      },
      connected: () => {
        life.isConnected = true
        for (const { connected } of this.#readings.values()) connected?.()
      },
      notice: (notice: TransportNotice) => {
        for (const { notice: tell } of this.#readings.values()) tell?.(notice)
      },
    }
  }

  #assign(deliveries: readonly Delivery[]): void {
    const assigned = deliveries.map((delivery) => {
      const shard = shardOrError(delivery.message, this.#options)
      if (typeof shard === 'string') return { shard, delivery }
      return { shard: this.#options.unknown, delivery: { ...delivery, givenUp: shard } }
    })
    for (const [shard, its] of Map.groupBy(assigned, ({ shard }) => shard))
      this.#branches.get(shard)?.add(its.map(({ delivery }) => delivery))
    this.#grown()
  }

  /** What waits here behind something that is given back: it must not overtake it. */
  #behind(branch: Branch, deliveries: readonly Delivery[]): readonly Delivery[] {
    const { order } = this.#source.capabilities
    if (order === 'none') return []
    const chainOf = ({ lane, message }: Delivery) => (order === 'lane' ? (lane ?? '') : message.key)
    const chains = new Set(deliveries.map(chainOf))
    chains.delete(undefined)
    return branch.takeBack((delivery) => chains.has(chainOf(delivery)))
  }

  #grown(): void {
    for (const wake of this.#wakers) wake()
  }

  async #end(): Promise<void> {
    const life = this.#life
    this.#life = undefined
    life?.end.abort()
    await life?.ended
    // Somebody may have begun to read again, and has what waits.
    if (this.#readings.size > 0) return
    const left = [...this.#branches.values()].flatMap((branch) => branch.takeBack())
    if (left.length > 0) await this.#source.settle(left, { kind: 'release' })
  }
}
