import {
  type IsolatedRedisStore,
  type LeaseRedisStore,
  type RedisTx,
  redisStore,
} from '../../src/stores/redis/index.ts'
import type { Effects } from '../../src/testing/index.ts'
import { type RedisClientSettings, redisClient } from '../servers/redis.ts'

export { freshTag } from '../servers/redis.ts'

export const aDayMs = 24 * 3_600_000

export type TestClient = ReturnType<typeof redisClient>

export async function connected(url: string, options: RedisClientSettings = {}): Promise<TestClient> {
  const client = redisClient(url, options)
  await client.connect()
  return client
}

export function isolatedStore(client: TestClient, hashTag: string): IsolatedRedisStore {
  return redisStore({ client, mode: 'isolated', hashTag, recordTtlMs: aDayMs, onWarning: () => {} })
}

export function leaseStore(client: TestClient, hashTag: string): LeaseRedisStore {
  return redisStore({ client, mode: 'lease', hashTag, onWarning: () => {} })
}

/** Counters that handlers raise through `tx`. */
export function redisEffects(client: TestClient, hashTag: string): Effects<RedisTx> {
  const keyOf = (name: string): string => `effects:{${hashTag}}:${name}`
  return {
    write: (tx, name) => tx.command('INCR', keyOf(name)),
    count: async (name) => Number((await client.get(keyOf(name))) ?? 0),
    writeBadly: (tx) => tx.command('NOSUCHCOMMAND', keyOf('bad')),
    commit: (tx) => tx.command('EXEC'),
    controls: ['MULTI', 'EXEC', 'DISCARD', 'WATCH', 'exec'].map((name) => ({
      name,
      run: (tx) => tx.command(name, ...(name === 'WATCH' ? [keyOf('a')] : [])),
    })),
    prepareWrite({ command }) {
      return (name) => command('INCR', keyOf(name))
    },
  }
}
