export type { Hints } from '../contracts/index.ts'
export type { Hot, HotClient, HotIoredis, HotNodeRedis, HotNodeRedisCluster, HotNodeRedisSentinel } from './hot.ts'
export { type HotSideOptions, hotSide } from './hot-side.ts'
