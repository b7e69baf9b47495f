import type { IncomingMessage, Store, Subscriber } from '../contracts/index.ts'
import { checkFunction, checkNumber, checkOptions, JustonceError } from '../errors/index.ts'
import { SplitSubscriber } from '../sharding/split-subscriber.ts'
import type { Health } from './health.ts'
import type { App } from './types.ts'

/** What `sharded()` takes. */
export interface ShardedOptions<Shard extends string, S extends Store, A> {
  /** Where messages of all shards come from. Positions cannot be kept in a store then: each belongs to several. */
  readonly from: Subscriber
  /** A store for each shard. */
  readonly shards: Readonly<Record<Shard, S>>
  /**
   * The shard of a message. You must: answer the same for every copy of a message, in every process and after every deploy, because a
   * copy that reaches another database is not recognised there.
   */
  readonly shardOf: (message: IncomingMessage) => string
  /** The shard that has the dead letters of messages for which `shardOf` throws or answers something else (`SHARD_UNKNOWN`). */
  readonly unknown: NoInfer<Shard>
  /** How many messages may wait in this process for shards that do not take them, before all have to wait. Default: 10,000. */
  readonly holdMost?: number
  /** Makes the app of a shard, with its handlers. Called once for each. */
  readonly app: (parts: { readonly shard: Shard; readonly store: S; readonly from: Subscriber }) => A
}

/** What `sharded()` returns. */
export interface Sharded<Shard extends string, A> {
  /** The app of each shard: its operations, events, retries, relay and maintenance are its own. */
  readonly apps: Readonly<Record<Shard, A>>
  /** Starts all of them. Does not wait for a shard whose store is down: the others begin, and it follows when its store is there. */
  start(): Promise<void>
  /** Stops all of them. */
  stop(options?: { readonly withinMs?: number }): Promise<void>
  /** The health of each. */
  health(): Promise<Readonly<Record<Shard, Health>>>
}

/**
 * Several databases by tenant or business key: an app for each of them, and one source whose messages go to the app of their shard.
 * A shard whose database is down does not stop the others.
 *
 * @example
 * const orders = sharded({
 *   from: rabbitmqTransport({ client, url, queue: 'orders' }),
 *   shards: { eu: postgresStore({ pool: eu }), us: postgresStore({ pool: us }) },
 *   shardOf: ({ headers }) => regionOf(headers?.tenant),
 *   unknown: 'eu',
 *   app({ shard, store, from }) {
 *     const app = justonce({ name: `orders-${shard}`, store, from })
 *     app.on('order.paid', 'pay', async (message, { tx }) => { … })
 *     return app
 *   },
 * })
 * await orders.start()
 */
export function sharded<const Shard extends string, S extends Store, A extends Startable>(
  options: ShardedOptions<Shard, S, A>,
): Sharded<Shard, A> {
  checkOptions(options, ['from', 'shards', 'shardOf', 'unknown', 'holdMost', 'app'], 'sharded()')
  const { from, shards, shardOf, unknown, holdMost = 10_000, app } = options
  checkFunction(shardOf, 'shardOf')
  checkFunction(app, 'app of sharded()')
  checkNumber(holdMost, 'holdMost', 0)
  const names = Object.keys(shards) as Shard[]
  if (!names.includes(unknown)) throw invalid(`unknown is ${unknown}, but the shards are ${names.join(', ')}.`)
  if (from.positions !== undefined)
    throw invalid(
      `${from.name} keeps positions in the store, but each of its partitions has messages of several shards.`,
    )
  const split = new SplitSubscriber(from, { shards: names, shardOf, unknown, holdMost })
  const made = names.map((shard) => [shard, app({ shard, store: shards[shard], from: split.of(shard) })] as const)
  const apps = Object.fromEntries(made) as Record<Shard, A>
  return {
    apps,
    async start() {
      await Promise.all(made.map(([shard, each]) => begun(shard, each)))
    },
    async stop(options) {
      await Promise.all(made.map(([, each]) => each.stop(options)))
    },
    async health() {
      const found = await Promise.all(made.map(async ([shard, each]) => [shard, await each.health()] as const))
      return Object.fromEntries(found) as Record<Shard, Health>
    },
  }
}

type Startable = Pick<App<Store, object>, 'start' | 'stop' | 'health' | 'events'>

/** Resolves when it has started, or knows that its store is down. */
async function begun(shard: string, { start, events }: Startable): Promise<void> {
  const down = Promise.withResolvers<'down'>()
  const stop = events.listen(({ kind }) => kind === 'store-down' && down.resolve('down'), { replacesLog: false })
  const started = start()
  try {
    if ((await Promise.race([started, down.promise])) !== 'down') return
    started.catch((error: unknown) => process.emitWarning(`The app of shard ${shard} could not be started: ${error}`))
  } finally {
    stop()
  }
}

function invalid(message: string): JustonceError {
  return new JustonceError('OPTION_INVALID', { message })
}
