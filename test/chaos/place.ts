import type { Acknowledging, World, WorldOptions } from '../crash/world.ts'
import { openWorld } from '../crash/world.ts'
import { settledPlan } from '../servers/acquire.ts'
import { mariadb, startMariadb } from '../servers/mariadb.ts'
import type { OwnServer } from '../servers/own-server.ts'
import { postgres, startPostgres } from '../servers/postgres.ts'
import { type FaultProxy, startProxy } from '../servers/proxy.ts'
import { redis, startRedis } from '../servers/redis.ts'
import { mountSmallDisk, type SmallDisk } from '../servers/small-disk.ts'

export type StoreName = 'sqlite' | 'postgres' | 'mysql' | 'redis'

/** What is possible with each: there is no queue in Redis that could be part of the commit. */
export const acknowledgings = {
  sqlite: ['inside', 'separate'],
  postgres: ['inside', 'separate'],
  mysql: ['inside', 'separate'],
  redis: ['separate'],
} as const satisfies Record<StoreName, readonly Acknowledging[]>

export interface PlaceOptions {
  readonly store: StoreName
  readonly acknowledging: Acknowledging
  readonly processes: number
}

/** Where a run happens: a world, and those of its surroundings that can be broken. */
export interface Place extends AsyncDisposable {
  readonly name: string
  readonly world: World
  /** The way of each process to the database; empty where there is no network in between. */
  readonly proxies: readonly FaultProxy[]
  readonly server?: { kill9(): Promise<void>; restart(): Promise<void> }
  readonly disk?: SmallDisk
}

/** Why there can be no place with this store here, if there cannot. */
export async function whyNoPlace(store: StoreName): Promise<string | undefined> {
  if (store === 'sqlite') return undefined
  const plan = await settledPlan({ redis, postgres, mysql: mariadb }[store], process.env, { mustBeOwn: true })
  return plan.kind === 'start' ? undefined : 'reason' in plan ? plan.reason : 'it must be a server that can be killed'
}

export async function openPlace(options: PlaceOptions): Promise<Place> {
  await using opening = new AsyncDisposableStack()
  const opened = options.store === 'sqlite' ? await onSqlite(options, opening) : await onServer(options, opening)
  const owned = opening.move()
  const name = `${options.store}, queue ${options.acknowledging === 'inside' ? 'inside' : 'outside'}`
  return { name, ...opened, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

type Opened = Omit<Place, 'name' | typeof Symbol.asyncDispose>

async function onSqlite({ acknowledging }: PlaceOptions, opening: AsyncDisposableStack): Promise<Opened> {
  const disk = await mountSmallDisk()
  if (disk !== undefined) opening.use(disk)
  const world = opening.use(await openWorld({ acknowledging, folder: disk?.path }))
  return { world, proxies: [], ...(disk === undefined ? {} : { disk }) }
}

async function onServer(
  { store, acknowledging, processes }: PlaceOptions,
  opening: AsyncDisposableStack,
): Promise<Opened> {
  const { server, address } = await startServer(store)
  opening.defer(() => server.stop())
  const proxies: FaultProxy[] = []
  opening.defer(async () => void (await Promise.all(proxies.map((proxy) => proxy.stop()))))
  const { hostname, port } = new URL(server.url)
  for (let each = 0; each < processes; each++) proxies.push(await startProxy(hostname, Number(port)))
  const world = opening.use(await openWorld({ acknowledging, ...address }))
  return { world, proxies, server }
}

async function startServer(
  store: StoreName,
): Promise<{ server: OwnServer; address: Omit<WorldOptions, 'acknowledging'> }> {
  if (store === 'redis') {
    // What was answered is on disk, as it is with the others.
    const server = await startRedis({ settings: { appendfsync: 'always' } })
    return { server, address: { redis: { url: server.url } } }
  }
  if (store === 'mysql') {
    const server = await startMariadb()
    return { server, address: { mariadbUrl: server.url } }
  }
  const server = await startPostgres()
  return { server, address: { postgresUrl: server.url } }
}
