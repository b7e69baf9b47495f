import { afterAll, beforeAll, describe } from 'vitest'
import type { Store } from '../../src/contracts/index.ts'
import { type RedisTx, redisStore } from '../../src/stores/redis/index.ts'
import { type StoreCaseContext, storeCases } from '../../src/testing/index.ts'
import { bindStoreCases } from '../conformance/bind-store-cases.ts'
import { requireServer } from '../servers/require.ts'
import { aDayMs, connected, freshTag, redisEffects, type TestClient } from './open-redis.ts'

const redis = await requireServer('redis')

describe.skipIf(!redis.available)('a client that sends everything again', () => {
  let clients: TestClient[] = []
  beforeAll(async () => {
    clients = await Promise.all([connected(redis.url), connected(redis.url)])
  })
  afterAll(() => {
    for (const client of clients) client.destroy()
  })

  /** As ioredis does by itself when the connection was lost before an answer came: nobody sees the first one. */
  function storeOver(client: TestClient, hashTag: string) {
    const twice = {
      async sendCommand(args: string[]): Promise<unknown> {
        await client.sendCommand(args).catch(() => {})
        return await client.sendCommand(args)
      },
    }
    return redisStore({ client: twice, mode: 'isolated', hashTag, recordTtlMs: aDayMs, onWarning: () => {} })
  }

  async function open(): Promise<StoreCaseContext<RedisTx>> {
    const [first, second] = clients as [TestClient, TestClient]
    const tag = freshTag()
    const store = storeOver(first, tag)
    const rival = storeOver(second, tag)
    return {
      store: asOperable(store),
      rival: asOperable(rival),
      effects: { ...redisEffects(first, tag), transaction: (work) => store.transaction(work) },
      declares: ['async-calls'],
      async close() {
        await store.close()
        await rival.close()
      },
    }
  }

  const cases = storeCases.filter(({ needs = [] }) => !needs.includes('atomic'))
  bindStoreCases('redis, with everything sent twice', { open, cases })
})

/** Cases say what they need: those for operators are left out by `needs` where the store has no such members. */
function asOperable<Tx>(store: Store<Tx>): Store<Tx> {
  return store as Store<Tx>
}
