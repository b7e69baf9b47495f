/** A fast cache that may forget everything at any time. It is asked before the store. */
export interface Hot {
  /** One value per key; null or undefined if there is none. */
  get(keys: readonly string[]): Promise<readonly (string | null | undefined)[]>
  /** Each entry lives for at most `lifeMs`. */
  set(entries: readonly (readonly [key: string, value: string])[], lifeMs: number): Promise<void>
}

/** A `createClient()` or `createClientPool()` of node-redis, as far as it is used here. */
export interface HotNodeRedis {
  sendCommand(args: string[]): Promise<unknown>
}

/** A `createCluster()` of node-redis. */
export interface HotNodeRedisCluster {
  readonly masters: readonly unknown[]
  sendCommand(firstKey: string, isReadonly: boolean, args: string[]): Promise<unknown>
}

/** A `createSentinel()` of node-redis. */
export interface HotNodeRedisSentinel {
  getMasterNode(): unknown
  sendCommand(isReadonly: boolean | undefined, args: string[]): Promise<unknown>
}

/** A `Redis` or `Cluster` of ioredis. */
export interface HotIoredis {
  call(command: string, args: string[]): Promise<unknown>
}

/** A client that `hotSide()` accepts. */
export type HotClient = HotNodeRedis | HotNodeRedisCluster | HotNodeRedisSentinel | HotIoredis

/** `undefined` if it is neither a `Hot` nor a known client. */
export function hotOf(given: unknown): Hot | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const shape = given as Partial<Hot & HotIoredis & Pick<HotNodeRedisCluster, 'sendCommand'>> & {
    readonly isCluster?: unknown
    readonly getMasterNode?: unknown
  }
  if (typeof shape.call === 'function') {
    const client = given as HotIoredis
    return redisHot((_, [name = '', ...args]) => client.call(name, args), shape.isCluster === true)
  }
  if (typeof shape.sendCommand === 'function') {
    if (typeof shape.getMasterNode === 'function')
      return redisHot((_, args) => (given as HotNodeRedisSentinel).sendCommand(false, args), false)
    if (!('masters' in given)) return redisHot((_, args) => (given as HotNodeRedis).sendCommand(args), false)
    return redisHot((key, args) => (given as HotNodeRedisCluster).sendCommand(key, false, args), true)
  }
  return typeof shape.get === 'function' && typeof shape.set === 'function' ? (given as Hot) : undefined
}

function redisHot(send: (key: string, args: string[]) => Promise<unknown>, isCluster: boolean): Hot {
  const textOf = (value: unknown): string | undefined => (value === null ? undefined : String(value))
  return {
    async get(keys) {
      if (!isCluster) return ((await send(keys[0] ?? '', ['MGET', ...keys])) as unknown[]).map(textOf)
      // Their slots differ on purpose, so that the load is spread over all nodes.
      return (await Promise.all(keys.map((key) => send(key, ['GET', key])))).map(textOf)
    },
    async set(entries, lifeMs) {
      await Promise.all(entries.map(([key, value]) => send(key, ['SET', key, value, 'PX', String(lifeMs)])))
    },
  }
}
