import { Cluster } from 'ioredis'
import { createCluster } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isJustonceError, justonce } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { countParked } from '../../src/operations/index.ts'
import { type IsolatedRedisStore, type RedisClient, redisStore } from '../../src/stores/redis/index.ts'
import { type RedisCluster, startRedisCluster } from '../servers/redis-cluster.ts'
import { requireBinaries } from '../servers/require.ts'
import { aDayMs, freshTag } from './open-redis.ts'

const binaries = await requireBinaries('redis')

describe.skipIf(!binaries.available)('a cluster of three nodes', () => {
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

  const open = (client: RedisClient, hashTag: string): IsolatedRedisStore =>
    redisStore({ client, mode: 'isolated', hashTag, recordTtlMs: aDayMs, onWarning: () => {} })

  test.for(['node-redis', 'ioredis'])(
    'keeps a store together by its hash tag, and takes one for each tag: %s',
    async (library) => {
      const client = (): RedisClient => (library === 'ioredis' ? io : cluster)
      const tags = ['one', 'two', 'three', 'four', 'five', 'six'].map((name) => `${library} ${name}`)
      for (const tag of tags) {
        const store = open(client(), tag)
        await store.schema.install()
        const transport = memoryTransport()
        const app = justonce({ store, transport })
        app.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, async (message, { tx, publish }) => {
          await tx.command('INCR', `effects:{${tag}}:${message.id}`)
          await publish('note.tagged', {})
          if (message.id === 'bad') throw new Error('no')
        })
        app.on('note.tagged', 'count', () => {})
        const ids = ['m1', 'm2', 'bad', 'm3', 'm1', 'm2']
        transport.send(ids.map((id) => ({ id, type: 'note.created', body: { id } })))
        await app.start()
        await transport.idle()
        await app.stop()
        const counts = await Promise.all(['m1', 'm2', 'm3', 'bad'].map((id) => cluster.get(`effects:{${tag}}:${id}`)))
        expect(counts).toEqual(['1', '1', '1', null])
        expect(await countParked(store, { state: 'dead', handler: 'tag-note' })).toBe(1)
      }
      const slotOf = async (tag: string) =>
        Number(await cluster.sendCommand(tag, true, ['CLUSTER', 'KEYSLOT', `{${tag}}`]))
      const slots = await Promise.all(tags.map(slotOf))
      expect(new Set(slots.map((slot) => Math.floor((slot * 3) / 16_384))).size, 'nodes in use').toBeGreaterThan(1)
    },
  )

  test.for([
    [['ZUNIONSTORE', 'mine', '2', 'mine', 'elsewhere'], 'elsewhere'],
    [['LMPOP', '1', 'elsewhere', 'LEFT'], 'elsewhere'],
    [['SORT', 'mine', 'STORE', 'kept'], 'belongs to the store'],
    [['ZMPOP', '1', 'kept', 'MIN'], 'belongs to the store'],
    [['ZUNIONSTORE', 'mine', '9', 'mine'], 'Invalid arguments'],
  ] as const)('refuses a key wherever the command has it: %s', async ([command, why]) => {
    const tag = freshTag()
    const store = open(cluster, tag)
    const real: Record<string, string> = { mine: `mine:{${tag}}`, kept: `justonce:{${tag}}:parked-all` }
    const [name, ...args] = command.map((each) => real[each] ?? each)
    const work = store.transaction((tx) => tx.command(name as string, ...args))
    const error = await work.catch((reason: unknown) => reason)
    expect(isJustonceError(error, 'STORE_CANNOT') && error.message).toContain(why)
  })

  test('refuses a key outside of its slot when it is queued', async () => {
    const tag = freshTag()
    const store = open(cluster, tag)
    const work = store.transaction(async (tx) => {
      await tx.command('INCR', `effects:{${tag}}`)
      await tx.command('INCR', 'effects:elsewhere')
    })
    const error = await work.catch((reason: unknown) => reason)
    expect(isJustonceError(error, 'STORE_CANNOT') && error.message).toContain('effects:elsewhere')
    expect(await cluster.get(`effects:{${tag}}`)).toBeNull()
  })
})
