import { afterEach, describe, expect, test, vi } from 'vitest'
import { type App, justonce, sharded } from '../../src/index.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { requireServer } from '../servers/require.ts'
import { openShards, order, orders, type Shard, shards, tenantOf, type World } from './sharded-world.ts'

vi.setConfig({ testTimeout: 120_000 })
const server = await requireServer('postgres')

const ending: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end()
})

async function openWorld(): Promise<World> {
  const world = await openShards(server.url)
  ending.push(() => world.close())
  return world
}

type More = (app: App<ReturnType<World['openStores']>[Shard], Record<string, unknown>>, shard: Shard) => void

/** One process. `more` is done with the app of each shard. */
function openProcess(
  world: World,
  broker: ReturnType<typeof memoryTransport>,
  { name = 'orders', schema, more = () => {} }: { name?: string; schema?: 'check'; more?: More } = {},
) {
  const app = sharded({
    from: broker.connect(),
    shards: world.openStores(),
    shardOf: tenantOf,
    unknown: 'eu',
    app({ shard, store, from }) {
      const to = broker.connect()
      const shared = { store, from, to, pollMs: 20, log: false } as const
      const app = justonce({ name: `${name}-${shard}`, ...shared, ...(schema && { schema }) })
      app.on('order.paid', `${name}-pay`, async ({ id }, { tx }) => {
        await tx.query('INSERT INTO effects VALUES ($1, $2)', [id, name])
      })
      more(app, shard)
      return app
    },
  })
  ending.push(() => app.stop({ withinMs: 5_000 }))
  return app
}

describe.skipIf(!server.available)('the lives of apps over three databases', () => {
  test('a database that accepts connections and never answers at the start stops nobody else', async () => {
    const world = await openWorld()
    const broker = memoryTransport()
    world.proxies.asia.pause()
    const app = openProcess(world, broker)
    for (const shard of shards) broker.send(orders(shard, 0, 10))
    const started = app.start()
    await expect.poll(() => world.effects('us'), { timeout: 30_000 }).toHaveLength(10)
    await expect.poll(() => world.effects('eu')).toHaveLength(10)
    world.proxies.asia.resume()
    await expect.poll(() => world.effects('asia'), { timeout: 60_000 }).toHaveLength(10)
    await started
  })

  test('one that is down at the start, and then not ready for another reason, is started when that is repaired', async () => {
    const world = await openWorld()
    const broker = memoryTransport()
    const { eu, asia, us } = world.openStores()
    for (const store of [eu, asia]) await store.schema.install()
    await world.cut('us')
    const app = openProcess(world, broker, { schema: 'check' })
    const warnings: string[] = []
    const warn = (warning: Error) => warnings.push(warning.message)
    process.on('warning', warn)
    ending.push(async () => process.off('warning', warn))
    for (const shard of shards) broker.send(orders(shard, 0, 10))
    await app.start()
    await world.proxies.us.accept()
    await expect.poll(() => warnings, { timeout: 60_000 }).toEqual([expect.stringContaining('The app of shard us')])
    await us.schema.install()
    await expect.poll(() => world.effects('us'), { timeout: 60_000 }).toHaveLength(10)
  })

  test('start() rejects if one cannot be started, the others go on, and calling it again starts the rest', async () => {
    const world = await openWorld()
    const broker = memoryTransport()
    const { eu, asia, us } = world.openStores()
    for (const store of [eu, asia]) await store.schema.install()
    const app = openProcess(world, broker, { schema: 'check' })
    for (const shard of shards) broker.send(orders(shard, 0, 10))
    await expect(app.start()).rejects.toMatchObject({ code: expect.stringMatching(/^SCHEMA/) })
    await expect.poll(() => world.effects('asia')).toHaveLength(10)
    await us.schema.install()
    await app.start()
    await expect.poll(() => world.effects('us')).toHaveLength(10)
    await app.start()
  })

  test('one app is stopped alone: the others go on, and its messages wait for another process', async () => {
    const world = await openWorld()
    const broker = memoryTransport()
    const first = openProcess(world, broker)
    await first.start()
    await first.apps.us.stop()
    for (const shard of shards) broker.send(orders(shard, 0, 300))
    for (const shard of ['eu', 'asia'] as const) await expect.poll(() => world.effects(shard)).toHaveLength(300)
    expect(await world.effects('us')).toEqual([])
    const second = openProcess(world, broker)
    await second.start()
    await first.stop()
    await expect.poll(() => world.effects('us')).toHaveLength(300)
    await broker.idle()
  })

  test('the same id in several shards is several messages, and two apps on the same databases have an effect each', async () => {
    const world = await openWorld()
    const copies = shards.flatMap((shard) => [0, 1, 2].map(() => ({ ...order(shard, 1), id: 'the same' })))
    for (const name of ['orders', 'billing']) {
      const broker = memoryTransport()
      const processes = [openProcess(world, broker, { name }), openProcess(world, broker, { name })]
      await Promise.all(processes.map((each) => each.start()))
      broker.send(copies)
      await broker.idle()
    }
    for (const shard of shards) {
      const { rows } = await world.direct[shard].query('SELECT message, app FROM effects ORDER BY app')
      expect(rows).toEqual(['billing', 'orders'].map((app) => ({ message: 'the same', app })))
    }
  })

  test('a schedule that all shards have has one effect for each tick, in the shard to which it belongs', async () => {
    const world = await openWorld()
    const broker = memoryTransport()
    const ticks: string[] = []
    const more: More = (app, shard) => {
      app.schedule('tick', { everyMs: 1_000, type: 'tick', body: {}, headers: { tenant: 'us' } } as never)
      app.on('tick', 'tock', async ({ id }, { tx }) => {
        await tx.query('INSERT INTO effects VALUES ($1, $2)', [id, shard])
        ticks.push(id)
      })
    }
    const processes = [openProcess(world, broker, { more }), openProcess(world, broker, { more })]
    await Promise.all(processes.map((each) => each.start()))
    await expect.poll(() => new Set(ticks).size, { timeout: 30_000 }).toBeGreaterThan(3)
    for (const each of processes) await each.stop()
    const { rows } = await world.direct.us.query<{ message: string; app: string }>('SELECT message, app FROM effects')
    expect(new Set(rows.map(({ message }) => message)).size).toBe(rows.length)
    for (const shard of ['eu', 'asia'] as const) expect(await world.effects(shard)).toEqual([])
    // Each shard has published the tick, under one id.
    const published = broker.settled().map(({ id }) => id)
    expect(published.length).toBeGreaterThan(new Set(published).size)
  })

  test('a schedule that one of them has ticks once', async () => {
    const world = await openWorld()
    const broker = memoryTransport()
    const processes = [1, 2].map(() => {
      const each = openProcess(world, broker, { more: (app) => app.on('tick', 'tock', () => {}) })
      each.apps.asia.schedule('tick', { everyMs: 1_000, type: 'tick', body: {}, headers: { tenant: 'us' } } as never)
      return each
    })
    await Promise.all(processes.map((each) => each.start()))
    await expect.poll(() => broker.settled().length, { timeout: 30_000 }).toBeGreaterThan(2)
    for (const each of processes) await each.stop()
    const published = broker.settled().map(({ id }) => id)
    expect(new Set(published).size).toBe(published.length)
  })
})
