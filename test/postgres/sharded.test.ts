import { afterEach, describe, expect, test, vi } from 'vitest'
import type { IncomingMessage } from '../../src/contracts/index.ts'
import { fixed, justonce, sharded } from '../../src/index.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { requireServer } from '../servers/require.ts'
import { ids, openShards as open, order, orders, shards, tenantOf, type World } from './sharded-world.ts'

vi.setConfig({ testTimeout: 120_000 })
const server = await requireServer('postgres')

const ending: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end()
})

async function openShards(): Promise<World> {
  const world = await open(server.url)
  ending.push(() => world.close())
  return world
}

function openApps(
  { openStores }: World,
  { shardOf = tenantOf, failing = new Set<string>() }: { shardOf?: typeof tenantOf; failing?: Set<string> } = {},
) {
  const broker = memoryTransport()
  const answers = memoryTransport()
  const apps = sharded({
    from: broker,
    shards: openStores(),
    shardOf,
    unknown: 'eu',
    app({ shard, store, from }) {
      const app = justonce({ name: `orders-${shard}`, store, from, to: answers.connect(), pollMs: 50, log: false })
      app.on('order.paid', { name: 'pay', retry: { attempts: 3, backoff: fixed(20) } }, async ({ id }, context) => {
        await context.tx.query('INSERT INTO effects (message) VALUES ($1)', [id])
        await context.publish('order.done', { shard })
        if (failing.delete(id)) throw new Error('not this time')
      })
      return app
    },
  })
  ending.push(() => apps.stop({ withinMs: 5_000 }))
  return { broker, answers, ...apps }
}

describe.skipIf(!server.available)('an app over three databases', () => {
  test('each message takes effect once, in its shard; retries and publishing belong to the shard', async () => {
    const world = await openShards()
    const { broker, answers, apps, start, health } = openApps(world, { failing: new Set(['us-003', 'asia-000']) })
    await start()
    for (const shard of shards) broker.send([...orders(shard, 0, 20), ...orders(shard, 5, 15)])
    for (const shard of shards) await expect.poll(() => world.effects(shard)).toEqual(ids(shard, 20))
    await expect.poll(() => answers.pending().length).toBe(60)
    for (const shard of shards) expect(await apps[shard].operations.letters.list()).toEqual([])
    expect(Object.values(await health()).map(({ state }) => state)).toEqual(['started', 'started', 'started'])
  })

  test('one database goes down under load: the others go on, and its own messages wait for it', async () => {
    const world = await openShards()
    const { broker, start } = openApps(world)
    await start()
    for (const shard of shards) broker.send(orders(shard, 0, 10))
    for (const shard of shards) await expect.poll(() => world.effects(shard)).toEqual(ids(shard, 10))
    await world.cut('us')
    // More for the one that is down, and before the others, than a consumer takes at a time.
    broker.send(orders('us', 10, 900))
    for (const shard of ['eu', 'asia']) broker.send([...orders(shard, 5, 200), ...orders(shard, 100, 200)])
    for (const shard of ['eu', 'asia'] as const)
      await expect.poll(() => world.effects(shard), { timeout: 60_000 }).toEqual(ids(shard, 200))
    expect(await world.effects('us')).toEqual(ids('us', 10))
    await world.proxies.us.accept()
    await expect.poll(() => world.effects('us'), { timeout: 60_000 }).toEqual(ids('us', 900))
    await broker.idle()
  })

  test('one is down at the start: the others begin, and it follows', async () => {
    const world = await openShards()
    await world.cut('asia')
    const { broker, start } = openApps(world)
    for (const shard of shards) broker.send(orders(shard, 0, 10))
    await start()
    await expect.poll(() => world.effects('eu')).toEqual(ids('eu', 10))
    await expect.poll(() => world.effects('us')).toEqual(ids('us', 10))
    await world.proxies.asia.accept()
    await expect.poll(() => world.effects('asia'), { timeout: 60_000 }).toEqual(ids('asia', 10))
  })

  test('a message of no shard, and one on which shardOf() throws, are dead letters in the shard that was agreed on', async () => {
    const world = await openShards()
    const shardOf = (message: IncomingMessage) => {
      if (message.headers?.tenant === 'boom') throw new Error('no such tenant')
      return tenantOf(message)
    }
    const { broker, apps, start } = openApps(world, { shardOf })
    await start()
    broker.send([order('mars', 1), order('boom', 1), order('eu', 1)])
    await broker.idle()
    const letters = await apps.eu.operations.letters.list()
    expect(letters.map(({ reason, errors }) => `${reason}: ${errors.at(-1)?.message}`)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^SHARD_UNKNOWN: .*shardOf\(\) answered "mars"/),
        expect.stringMatching(/^SHARD_UNKNOWN: .*shardOf\(\) threw Error: no such tenant/),
      ]),
    )
    expect(letters).toHaveLength(2)
    expect(await world.effects('eu')).toEqual(['eu-001'])
    for (const shard of ['us', 'asia'] as const) expect(await world.effects(shard)).toEqual([])
  })

  test('a broken twin that sends copies to different shards repeats effects: the key of a shard must be the same for all copies', async () => {
    const world = await openShards()
    let arrivals = 0
    const { broker, start } = openApps(world, { shardOf: () => shards[arrivals++ % 3] as string })
    await start()
    broker.send([order('eu', 1), order('eu', 1), order('eu', 1)])
    await broker.idle()
    const effects = await Promise.all(shards.map((shard) => world.effects(shard)))
    expect(effects.flat()).toEqual(['eu-001', 'eu-001', 'eu-001'])
  })
})
