import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { justonce } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { type RedisClient, redisStore } from '../../src/stores/redis/index.ts'
import { startProxy } from '../servers/proxy.ts'
import { redisClient } from '../servers/redis.ts'
import { requireServer } from '../servers/require.ts'
import { aDayMs, connected, freshTag } from './open-redis.ts'

const redis = await requireServer('redis')

/** Clients that have never had a connection. */
const libraries = {
  'node-redis'(url: string) {
    const client = redisClient(url)
    // It tries until it gets through, or is destroyed.
    client.connect().catch(() => {})
    return { client: client as RedisClient, end: () => client.destroy() }
  },
  ioredis(url: string) {
    const client = new Redis(url).on('error', () => {})
    return { client: client as RedisClient, end: () => client.disconnect() }
  },
}

async function openApp(library: keyof typeof libraries) {
  const { hostname, port } = new URL(redis.url)
  const proxy = await startProxy(hostname, Number(port))
  await proxy.refuse()
  const { client, end } = libraries[library](proxy.url(redis.url))
  const hashTag = freshTag()
  const limits = { recordTtlMs: aDayMs, commandTimeoutMs: 500 }
  const store = redisStore({ client, mode: 'isolated', hashTag, ...limits, onWarning: () => {} })
  const transport = memoryTransport()
  const app = justonce({ store, transport })
  app.on('note.created', 'tag-note', (message, { tx }) => tx.command('INCR', `effects:{${hashTag}}:${message.id}`))
  const kinds: string[] = []
  app.events.listen(({ kind }) => kinds.push(kind))
  onTestFinished(async () => {
    await app.stop()
    end()
    await proxy.stop()
  })
  const effectOf = async (id: string): Promise<string | null> => {
    const outside = await connected(redis.url)
    return await outside.get(`effects:{${hashTag}}:${id}`).finally(() => outside.destroy())
  }
  return { app, proxy, transport, kinds, effectOf }
}

describe.skipIf(!redis.available).each(Object.keys(libraries) as (keyof typeof libraries)[])(
  'a Redis that is away at the start, under %s',
  (library) => {
    test('is waited for, and then everything is as ever', async () => {
      const { app, proxy, transport, kinds, effectOf } = await openApp(library)
      const started = app.start()
      await vi.waitFor(() => expect(kinds).toEqual(['store-down']), { timeout: 10_000 })
      await proxy.accept()
      await started
      expect(kinds).toContain('store-up')
      for (let copy = 0; copy < 2; copy++) {
        transport.send({ id: 'm1', type: 'note.created', body: {} })
        await transport.idle()
      }
      expect(await effectOf('m1')).toBe('1')
    }, 30_000)

    test('is waited for only as long as one likes', async () => {
      const { app, kinds } = await openApp(library)
      await expect(app.start({ withinMs: 1_500 })).rejects.toThrow()
      expect(kinds).toEqual(['store-down'])
    }, 30_000)
  },
)
