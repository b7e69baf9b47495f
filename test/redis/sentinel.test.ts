import { createSentinel } from 'redis'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { hotSide } from '../../src/hints/index.ts'
import { once } from '../../src/index.ts'
import { redisStore } from '../../src/stores/redis/index.ts'
import { localhost } from '../servers/address.ts'
import { type RedisServer, startRedis, withRedis } from '../servers/redis.ts'
import { startSentinel } from '../servers/redis-sentinel.ts'
import { requireBinaries } from '../servers/require.ts'
import type { RunningServer } from '../servers/server.ts'
import { aDayMs, freshTag } from './open-redis.ts'

const binaries = await requireBinaries('redis')

const infoOf = (server: RedisServer) =>
  withRedis(server.url, async (client) => String(await client.info('replication')))

describe.skipIf(!binaries.available)('a client of node-redis that asks Sentinel', () => {
  const running: RunningServer[] = []
  let primary: RedisServer
  let replica: RedisServer
  let client: ReturnType<typeof createSentinel>
  beforeAll(async () => {
    primary = await startRedis()
    running.push(primary)
    replica = await startRedis({ settings: { replicaof: `${localhost} ${primary.port}` } })
    running.push(replica)
    await vi.waitFor(async () => expect(await infoOf(replica)).toContain('master_link_status:up'), { timeout: 20_000 })
    const sentinel = await startSentinel('records', primary.port)
    running.push(sentinel)
    client = createSentinel({ name: 'records', sentinelRootNodes: [{ host: localhost, port: sentinel.port }] })
    client.on('error', () => {})
    await client.connect()
  })
  afterAll(async () => {
    client?.destroy()
    await Promise.all(running.map((server) => server.stop()))
  })

  test('keeps records on the primary, and on the one that follows it', async () => {
    const hashTag = freshTag()
    const store = redisStore({ client, mode: 'isolated', hashTag, recordTtlMs: aDayMs, onWarning: () => {} })
    await store.schema.install()
    const tag = (key: string) =>
      once(store, { handler: 'tag-note', key }, (tx) => tx.command('INCR', `effects:{${hashTag}}`))
    expect((await tag('m1')).status).toBe('processed')
    await expect.poll(() => withRedis(replica.url, (direct) => direct.get(`effects:{${hashTag}}`))).toBe('1')
    await primary.kill9()
    await expect.poll(() => infoOf(replica), { timeout: 30_000 }).toContain('role:master')
    const after = async (key: string): Promise<string> =>
      (await tag(key).catch(({ code }) => ({ status: code }))).status
    await expect.poll(() => after('m2'), { timeout: 30_000 }).toMatch(/^(processed|duplicate)$/)
    expect((await tag('m1')).status).toBe('duplicate')
    expect(await withRedis(replica.url, (direct) => direct.get(`effects:{${hashTag}}`))).toBe('2')
  })

  test('serves as a hot side', async () => {
    const hints = hotSide({ client, prefix: freshTag(), timeoutMs: 5_000 })
    const request = { handler: 'tag-note', key: 'm1', fingerprint: undefined }
    hints.committed([request], 'e1')
    await expect.poll(() => hints.known([request], 'e1')).toEqual([true])
  })
})
