import type { Delivery, IncomingMessage, Subscriber, TransportNotice } from '../contracts/index.ts'
import { JustonceError } from '../errors/index.ts'
import { Branch } from './branch.ts'

type Reading = Parameters<Subscriber['deliveries']>[0]

export interface SplitOptions {
  readonly shards: readonly string[]
  readonly shardOf: (message: IncomingMessage) => string
  /** Has the dead letters of messages whose shard is not known. */
  readonly unknown: string
  /** How many messages may wait here for a shard that does not take them. */
  readonly holdMost: number
}

/**
 * Reads one source and hands each message to the shard that it belongs to. A shard that takes nothing, because its database is down,
 * holds its own messages and no others. What cannot be assigned is given up: a dead letter in a place that was agreed on.
 */
export class SplitSubscriber {
  readonly #source: Subscriber
  readonly #options: SplitOptions
  readonly #branches: ReadonlyMap<string, Branch>
  readonly #wakers = new Set<() => void>()
  readonly #readings = new Map<Branch, Reading>()
  readonly #open: Set<string>
  #reading: { readonly end: AbortController; readonly ended: Promise<void>; isConnected: boolean } | undefined
  #failure: { readonly error: unknown } | undefined

  constructor(source: Subscriber, options: SplitOptions) {
    this.#source = source
    this.#options = options
    this.#branches = new Map(options.shards.map((shard) => [shard, new Branch(shard)]))
    this.#open = new Set(options.shards)
  }

  of(shard: string): Subscriber {
    const source = this.#source
    const branch = this.#branches.get(shard) as Branch
    return {
      name: source.name,
      capabilities: source.capabilities,
      inFlight: source.inFlight,
      ...(source.redeliversForMs && {
        redeliversForMs: () => source.redeliversForMs?.() ?? Promise.resolve(undefined),
      }),
      ...(source.inspect && { inspect: () => source.inspect?.() ?? Promise.resolve({ warnings: [] }) }),
      deliveries: (options) => this.#deliveries(branch, options),
      settle: async (deliveries, settlement) => {
        branch.settled(deliveries)
        this.#grown()
        await source.settle(deliveries, settlement)
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
      if (this.#reading?.isConnected) options.connected?.()
      while (!options.signal.aborted) {
        if (this.#failure !== undefined) throw this.#failure.error
        const { changed } = branch
        const taken = branch.take()
        if (taken.length > 0) yield taken
        else await changed
      }
    } finally {
      stop()
      stopGrowing?.()
      options.signal.removeEventListener('abort', abort)
      this.#readings.delete(branch)
      if (this.#readings.size === 0) await this.#end()
    }
  }

  #begin(options: Reading): void {
    if (this.#reading !== undefined) return
    this.#failure = undefined
    const end = new AbortController()
    const read = async (): Promise<void> => {
      try {
        for await (const deliveries of this.#source.deliveries(this.#readingOf(options, end.signal)))
          for (const delivery of deliveries) this.#assign(delivery)
      } catch (error) {
        this.#failure = { error }
        this.#reading = undefined
        for (const branch of this.#branches.values()) branch.wake()
      }
    }
    // Set before reading begins, because a source may say at once that it is connected.
    const begun = Promise.withResolvers<void>()
    this.#reading = { end, ended: begun.promise, isConnected: false }
    void read().then(begun.resolve)
  }

  #readingOf({ maxInFlight, maxBytes }: Reading, signal: AbortSignal): Reading {
    const shards = this.#branches.size
    const most = maxInFlight * shards + this.#options.holdMost
    const wanted = () => [...this.#branches.values()].reduce((sum, branch) => sum + branch.wanted, 0)
    return {
      signal,
      maxInFlight: most,
      ...(maxBytes !== undefined && { maxBytes: maxBytes * shards }),
      appetite: {
        now: () => Math.max(1, Math.min(most, wanted())),
        onGrown: (wake) => {
          this.#wakers.add(wake)
          return () => this.#wakers.delete(wake)
        },
      },
      connected: () => {
        if (this.#reading !== undefined) this.#reading.isConnected = true
        for (const { connected } of this.#readings.values()) connected?.()
      },
      notice: (notice: TransportNotice) => {
        for (const { notice: tell } of this.#readings.values()) tell?.(notice)
      },
    }
  }

  #assign(delivery: Delivery): void {
    const shard = this.#shardOf(delivery.message)
    const branch = this.#branches.get(typeof shard === 'string' ? shard : this.#options.unknown) as Branch
    branch.add(typeof shard === 'string' ? delivery : { ...delivery, givenUp: `${shard.code}: ${shard.message}` })
    if (branch.waiting > 0) this.#grown()
  }

  #shardOf(message: IncomingMessage): string | JustonceError {
    let shard: unknown
    try {
      shard = this.#options.shardOf(message)
    } catch (error) {
      return new JustonceError('SHARD_UNKNOWN', { message: `shardOf() threw ${error}.`, cause: error })
    }
    if (typeof shard === 'string' && this.#branches.has(shard)) return shard
    return new JustonceError('SHARD_UNKNOWN', { message: `shardOf() answered ${JSON.stringify(shard)}.` })
  }

  #grown(): void {
    for (const wake of this.#wakers) wake()
  }

  async #end(): Promise<void> {
    const reading = this.#reading
    this.#reading = undefined
    reading?.end.abort()
    await reading?.ended
    const left = [...this.#branches.values()].flatMap((branch) => branch.takeBack())
    if (left.length > 0) await this.#source.settle(left, { kind: 'release' })
  }
}
