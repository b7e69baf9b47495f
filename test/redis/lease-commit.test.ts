import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { once } from '../../src/index.ts'
import { redisStore } from '../../src/stores/redis/index.ts'
import { type FaultProxy, startProxy } from '../servers/proxy.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { requireBinaries } from '../servers/require.ts'
import { aDayMs, connected, freshTag, type TestClient } from './open-redis.ts'

const binaries = await requireBinaries('redis')

/** In the record that a commit writes, and in no claim. */
const result = 'sent to ada'

describe.skipIf(!binaries.available)('work that cannot be rolled back, and a commit that is not answered', () => {
  let server: RedisServer
  let proxy: FaultProxy
  let client: TestClient
  beforeAll(async () => {
    server = await startRedis({ settings: { 'proto-max-bulk-len': '1mb' } })
    proxy = await startProxy('127.0.0.1', server.port)
    client = await connected(proxy.url(server.url))
  })
  afterAll(async () => {
    client?.destroy()
    await proxy?.stop()
    await server?.stop()
  })

  const leaseStore = (options: { leaseMs?: number; commandTimeoutMs?: number } = {}) =>
    redisStore({ client, mode: 'lease', hashTag: freshTag(), onWarning: () => {}, ...options })

  test.for(['before', 'after-forward'] as const)(
    'a connection that is cut at the commit, %s: once() has done its work once',
    async (when) => {
      const store = leaseStore()
      const sent: string[] = []
      const report = { handler: 'send-report', key: '2030-01' }
      const happened = proxy.cutWhenClientSends(result, when)
      const outcome = await once(store, report, async () => {
        sent.push('ada')
        return result
      })
      await happened
      expect(outcome).toMatchObject({ status: 'processed', value: result })
      expect(await once(store, report, () => sent.push('again'))).toMatchObject({ status: 'duplicate', value: result })
      expect(sent).toEqual(['ada'])
    },
  )

  test('a server that is away for longer than the lease: once() says that it does not know, and works once', async () => {
    const store = leaseStore({ leaseMs: 300, commandTimeoutMs: 500 })
    const sent: string[] = []
    const outcome = once(store, { handler: 'send-report', key: '2030-02' }, async () => {
      sent.push('ada')
      await proxy.refuse()
      proxy.cutAll()
    })
    await expect(outcome).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
    await proxy.accept()
    expect(sent).toEqual(['ada'])
  })

  test.for(['lease', 'isolated'] as const)(
    'a result that is larger than the server takes is refused in mode %s, and nobody works again for it',
    async (mode) => {
      const options = { client, hashTag: freshTag(), onWarning: () => {} }
      const store =
        mode === 'lease' ? redisStore({ ...options, mode }) : redisStore({ ...options, mode, recordTtlMs: aDayMs })
      let times = 0
      const outcome = once(store, { handler: 'send-report', key: '2030-03' }, () => {
        times++
        return 'x'.repeat(1_100_000)
      })
      await expect(outcome).rejects.toMatchObject({ code: 'STORE_CANNOT', message: expect.stringContaining('result') })
      expect(times).toBe(1)
    },
  )
})
