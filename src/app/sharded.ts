import type { IncomingMessage, Store, Subscriber } from '../contracts/index.ts'
import { checkFunction, checkNumber, checkOptions, JustonceError } from '../errors/index.ts'
import { onAllShards, type ShardedOperations, type WhoAndWhy } from '../operations/index.ts'
import { shardOrError } from '../sharding/shard-or-error.ts'
import { SplitSubscriber } from '../sharding/split-subscriber.ts'
import type { Health } from './health.ts'
import { type Reassigned, reassign } from './reassign.ts'
import { ShardStarter } from './shard-starter.ts'
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
  /**
   * Starts all of them. Does not wait for a shard whose store is down: the others begin, and it follows when its store is there. If one
   * cannot be started for another reason, it rejects, the others are started, and calling it again starts the rest.
   */
  start(): Promise<void>
  /** Stops all of them. */
  stop(options?: { readonly withinMs?: number }): Promise<void>
  /** The health of each. */
  health(): Promise<Readonly<Record<Shard, Health>>>
  /** What operators ask and do, on all shards at once: each answers for itself, also if another one is down. */
  readonly operations: ShardedOperations<Shard>
  /**
   * Hands dead letters with the reason `SHARD_UNKNOWN`, and what waits behind them in the order of a key, to the shard that `shardOf`
   * names by now: they are handled there, under their own ids, and discarded where they were. Those that belong where they are are redriven. It can be called again after whatever happened.
   */
  reassign(whoAndWhy: WhoAndWhy): Promise<Reassigned>
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
export function sharded<const Shard extends string, S extends Store, A extends ShardApp>(
  options: ShardedOptions<Shard, S, A>,
): Sharded<Shard, A> {
  checkOptions(options, ['from', 'shards', 'shardOf', 'unknown', 'holdMost', 'app'], 'sharded()')
  const { from, shards, shardOf, unknown, holdMost = 10_000, app } = options
  checkFunction(shardOf, 'shardOf')
  checkFunction(app, 'app of sharded()')
  checkNumber(holdMost, 'holdMost', 0)
  const names = Object.keys(shards) as Shard[]
  if (!names.includes(unknown)) throw invalid(`unknown is ${unknown}, but the shards are ${names.join(', ')}.`)
  if (from.positions !== undefined && from.positions.dedup !== 'id')
    throw invalid(
      `${from.name} keeps positions in the store, but each of its partitions has messages of several shards.`,
    )
  const known = { shards: names, shardOf }
  const split = new SplitSubscriber(from, { ...known, unknown, holdMost })
  const made = names.map((shard) => [shard, app({ shard, store: shards[shard], from: split.of(shard) })] as const)
  const apps = Object.fromEntries(made) as Record<Shard, A>
  const starter = new ShardStarter(made)
  return {
    apps,
    operations: onAllShards(operationsOf(apps)),
    start: async () => await starter.start(),
    async stop(options) {
      starter.stop()
      await Promise.all(made.map(([, each]) => each.stop(options)))
    },
    async health() {
      const found = await Promise.all(made.map(async ([shard, each]) => [shard, await each.health()] as const))
      return Object.fromEntries(found) as Record<Shard, Health>
    },
    async reassign(whoAndWhy) {
      const shardNow = (message: IncomingMessage): string | undefined => {
        const shard = shardOrError(message, known)
        return typeof shard === 'string' ? shard : undefined
      }
      return await reassign(apps, shardNow, whoAndWhy)
    },
  }
}

type ShardApp = Pick<App<Store, object>, 'start' | 'stop' | 'health' | 'events' | 'operations' | 'store' | 'deliver'>

function operationsOf<Shard extends string>(
  apps: Readonly<Record<Shard, ShardApp>>,
): Readonly<Record<Shard, ShardApp['operations']>> {
  const all = Object.entries<ShardApp>(apps).map(([shard, { operations }]) => [shard, operations])
  return Object.fromEntries(all) as Record<Shard, ShardApp['operations']>
}

function invalid(message: string): JustonceError {
  return new JustonceError('OPTION_INVALID', { message })
}
