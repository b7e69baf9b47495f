import { Cluster } from 'ioredis'
import { createCluster } from 'redis'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type JustonceEvent, justonce } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { type RedisClient, redisStore } from '../../src/stores/redis/index.ts'
import { withRedis } from '../servers/redis.ts'
import { type RedisCluster, startRedisCluster } from '../servers/redis-cluster.ts'
import { requireBinaries } from '../servers/require.ts'
import { aDayMs, freshTag } from './open-redis.ts'

const binaries = await requireBinaries('redis')
// Each wait has its own bound.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

describe.skipIf(!binaries.available)('a cluster that moves the slot of a store to another node', () => {
  let servers: RedisCluster
  let cluster: ReturnType<typeof createCluster>
  let io: Cluster
  beforeAll(async () => {
    servers = await startRedisCluster()
    cluster = createCluster({ rootNodes: servers.urls.map((url) => ({ url })) })
    cluster.on('error', () => {})
    await cluster.connect()
    io = new Cluster([...servers.urls])
  })
  afterAll(async () => {
    io?.disconnect()
    cluster?.destroy()
    await servers?.stop()
  })

  const handled = ['m1', 'm2', 'm3']
  // Redis moves keys one after the other, so that any of them may be on either side meanwhile.
  test.for([
    { library: 'node-redis', moved: 'nothing' },
    { library: 'node-redis', moved: 'half of it' },
    { library: 'ioredis', moved: 'nothing' },
    { library: 'ioredis', moved: 'half of it' },
  ] as const)('nothing runs twice, and it goes on when all has moved: $library, $moved yet', async (which) => {
    const { library, moved } = which
    const tag = freshTag()
    const client = (): RedisClient => (library === 'ioredis' ? io : cluster)
    const first = consumer(client(), tag)
    const second = consumer(client(), tag)
    await first.app.start()
    await second.app.start()
    first.send(handled)
    await first.transport.idle()

    const slot = await movingSlot(servers, tag)
    if (moved === 'half of it') await slot.moveKeys((_, place) => place % 2 === 0)
    second.send([...handled, 'm4'])
    await expect.poll(() => second.said('store-down', 'processed', 'duplicate'), { timeout: 30_000 }).toBe(true)
    expect(second.ran).toEqual([])
    await slot.finish()
    await second.transport.idle()
    expect(await Promise.all([...handled, 'm4'].map((id) => cluster.get(`effects:{${tag}}:${id}`)))).toEqual(
      Array(4).fill('1'),
    )
    expect(second.ran).toEqual(['m4'])
    expect(second.said('parked')).toBe(false)
    await first.app.stop()
    await second.app.stop()
  })
})

function consumer(client: RedisClient, hashTag: string) {
  const store = redisStore({ client, mode: 'isolated', hashTag, recordTtlMs: aDayMs, onWarning: () => {} })
  const transport = memoryTransport()
  const app = justonce({ store, transport, pollMs: 50 })
  const ran: string[] = []
  app.on('note.created', 'tag-note', async (message, { tx }) => {
    ran.push(message.id)
    await tx.command('INCR', `effects:{${hashTag}}:${message.id}`)
  })
  const said = new Set<JustonceEvent['kind']>()
  app.events.listen(({ kind }) => said.add(kind))
  return {
    app,
    transport,
    ran,
    said: (...kinds: JustonceEvent['kind'][]) => kinds.some((kind) => said.has(kind)),
    send: (ids: readonly string[]) => transport.send(ids.map((id) => ({ id, type: 'note.created', body: { id } }))),
  }
}

/** Begins as `redis-cli --cluster reshard` does. */
async function movingSlot({ nodes }: RedisCluster, tag: string) {
  const send = (url: string, ...args: string[]): Promise<unknown> =>
    withRedis(url, (client) => client.sendCommand(args))
  const slot = Number(await send(nodes[0]?.url ?? '', 'CLUSTER', 'KEYSLOT', `{${tag}}`))
  const owner = nodes.findIndex((_, index) => slot < Math.floor(((index + 1) * 16_384) / nodes.length))
  const [from, to] = [nodes[owner], nodes[(owner + 1) % nodes.length]]
  if (from === undefined || to === undefined) throw new Error('There are not enough nodes.')
  const [fromId, toId] = [
    String(await send(from.url, 'CLUSTER', 'MYID')),
    String(await send(to.url, 'CLUSTER', 'MYID')),
  ]
  await send(to.url, 'CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', fromId)
  await send(from.url, 'CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', toId)
  const moveKeys = async (isWanted: (key: string, place: number) => boolean): Promise<void> => {
    const keys = (await send(from.url, 'CLUSTER', 'GETKEYSINSLOT', String(slot), '1000')) as string[]
    for (const key of keys.sort().filter(isWanted))
      await send(from.url, 'MIGRATE', '127.0.0.1', String(to.port), key, '0', '30000')
  }
  return {
    moveKeys,
    async finish(): Promise<void> {
      await moveKeys(() => true)
      for (const { url } of [to, from, ...nodes]) await send(url, 'CLUSTER', 'SETSLOT', String(slot), 'NODE', toId)
    },
  }
}
