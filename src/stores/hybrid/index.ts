export type { Hot, HotClient, HotIoredis, HotNodeRedis, HotNodeRedisCluster } from './hot.ts'
export { type HybridStoreOptions, hybridStore } from './hybrid-store.ts'
