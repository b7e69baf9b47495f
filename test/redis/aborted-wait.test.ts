import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { requireServer } from '../servers/require.ts'
import { connected, freshTag, isolatedStore, type TestClient } from './open-redis.ts'

const redis = await requireServer('redis')
const request = { handler: 'tag-note', key: 'm1', fingerprint: undefined }

describe.skipIf(!redis.available)('a transaction that gives up while it waits for a rival', () => {
  let client: TestClient
  beforeAll(async () => {
    client = await connected(redis.url)
  })
  afterAll(() => client?.destroy())

  test('never takes what the rival gives up later', async () => {
    const store = isolatedStore(client, freshTag())
    for (let turn = 0; turn < 30; turn++) {
      const abort = new AbortController()
      const sorry = new Error('undone on purpose')
      const asking = Promise.withResolvers<unknown>()
      const holder = store.transaction(async (tx) => {
        await store.inbox.claim(tx, [request])
        const waiter = store.transaction(
          (other) => {
            const claim = store.inbox.claim(other, [request])
            asking.resolve(claim.catch(() => 'given up'))
            return claim
          },
          { signal: abort.signal, lockTimeoutMs: 60_000 },
        )
        setTimeout(() => abort.abort(sorry), turn)
        await expect(waiter).rejects.toBe(sorry)
        throw sorry
      })
      await expect(holder).rejects.toBe(sorry)
      expect(await asking.promise).toBe('given up')
      const free = store.transaction((tx) => store.inbox.claim(tx, [request]), { lockTimeoutMs: 5_000 })
      expect((await free).existing).toEqual([undefined])
      await store.transaction((tx) => store.inbox.forget(tx, [request]))
    }
  })
})
