export type {
  IoredisClient,
  NodeRedisClient,
  NodeRedisCluster,
  NodeRedisSentinel,
  RedisArgument,
  RedisClient,
} from './client-shapes.ts'
export type { IsolatedRedisOptions, LeaseRedisOptions } from './options.ts'
export { type IsolatedRedisStore, type LeaseRedisStore, redisStore } from './redis-store.ts'
export type { NoTx, RedisTx } from './redis-tx.ts'
export type { RedisWarning } from './schema.ts'
