import { afterAll, beforeAll, describe } from 'vitest'
import type { Store } from '../../src/contracts/index.ts'
import type { NoTx, RedisTx } from '../../src/stores/redis/index.ts'
import { reservationCases } from '../../src/testing/engine-cases/reservation.ts'
import { engineCases, type StoreCase, type StoreCaseContext, storeCases } from '../../src/testing/index.ts'
import { leaseSkips } from '../redis/lease-skips.ts'
import { connected, freshTag, isolatedStore, leaseStore, redisEffects, type TestClient } from '../redis/open-redis.ts'
import { requireServer } from '../servers/require.ts'
import { bindStoreCases } from './bind-store-cases.ts'

const redis = await requireServer('redis')

describe.skipIf(!redis.available)('Redis', () => {
  let clients: TestClient[] = []
  beforeAll(async () => {
    clients = await Promise.all([connected(redis.url), connected(redis.url)])
  })
  afterAll(() => {
    for (const client of clients) client.destroy()
  })

  async function open(): Promise<StoreCaseContext<RedisTx>> {
    const [first, second] = clients as [TestClient, TestClient]
    const tag = freshTag()
    const store = isolatedStore(first, tag)
    const rival = isolatedStore(second, tag)
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

  // The engine's cases ask for an atomic store. While no command fails at the commit this one is as good as that.
  const withoutAtomic = (each: StoreCase): StoreCase => ({
    ...each,
    needs: each.needs?.filter((need) => need !== 'atomic') ?? [],
  })
  const reason = 'participants of a reservation are refused on a store that is not atomic'
  bindStoreCases('redis (isolated)', {
    open,
    cases: [...storeCases, ...engineCases].map(withoutAtomic),
    skip: reservationCases.map(({ name }) => ({ case: name, reason })),
  })

  async function openLease(): Promise<StoreCaseContext<NoTx>> {
    const [first, second] = clients as [TestClient, TestClient]
    const tag = freshTag()
    const store = leaseStore(first, tag)
    const rival = leaseStore(second, tag)
    const keyOf = (name: string): string => `effects:{${tag}}:${name}`
    return {
      store: asOperable(store),
      rival: asOperable(rival),
      effects: {
        write: async (_, name) => void (await first.incr(keyOf(name))),
        count: async (name) => Number((await first.get(keyOf(name))) ?? 0),
        transaction: (work) => store.transaction(work),
      },
      async close() {
        await store.close()
        await rival.close()
      },
    }
  }
  bindStoreCases('redis (lease)', { open: openLease, skip: leaseSkips })
})

/** Cases that use the optional parts need 'letters', and are skipped. */
function asOperable<Tx>(store: Store<Tx>): Store<Tx> {
  return store as Store<Tx>
}
