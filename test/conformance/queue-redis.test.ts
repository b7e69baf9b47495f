import { afterAll, beforeAll, describe } from 'vitest'
import type { TransportCaseContext } from '../../src/testing/index.ts'
import { connected, freshTag, isolatedStore, type TestClient } from '../redis/open-redis.ts'
import { requireServer } from '../servers/require.ts'
import { bindTransportCases } from './bind-transport-cases.ts'
import { queueContext } from './queue-context.ts'

const redis = await requireServer('redis')

describe.skipIf(!redis.available)('Redis as a queue', () => {
  let client: TestClient
  beforeAll(async () => {
    client = await connected(redis.url)
  })
  afterAll(() => client?.destroy())

  async function open(): Promise<TransportCaseContext> {
    const tag = freshTag()
    return queueContext({ openStore: async () => isolatedStore(client, tag), remove: async () => {} })
  }

  bindTransportCases('queue on redis', { open })
})
