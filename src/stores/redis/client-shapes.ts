/** A `createClient()` or `createClientPool()` of node-redis, as far as it is used here. */
export interface NodeRedisClient {
  sendCommand(args: string[]): Promise<unknown>
}

/** A `createCluster()` of node-redis. */
export interface NodeRedisCluster {
  readonly masters: readonly unknown[]
  sendCommand(firstKey: string, isReadonly: boolean, args: string[]): Promise<unknown>
}

/** A `createSentinel()` of node-redis. */
export interface NodeRedisSentinel {
  getMasterNode(): unknown
  sendCommand(isReadonly: boolean | undefined, args: string[]): Promise<unknown>
}

/** A `Redis` or `Cluster` of ioredis. */
export interface IoredisClient {
  call(command: string, args: (string | Buffer | number)[]): Promise<unknown>
}

/** A connected client of the user. The store never closes it. */
export type RedisClient = NodeRedisClient | NodeRedisCluster | NodeRedisSentinel | IoredisClient

/** The arguments a command accepts. Bytes are sent unchanged. */
export type RedisArgument = string | number | bigint | Uint8Array

/** Sends one command to the node that has the key. */
export type Send = (key: string, args: readonly (string | Uint8Array)[]) => Promise<unknown>

export interface OpenedClient {
  readonly send: Send
  /** Whether every key of a transaction must be in one slot. */
  readonly isCluster: boolean
  /** The database that the client is configured for; `undefined` if it does not say. A cluster has only one. */
  readonly database: number | undefined
}

/** `undefined` if the client has none of the known shapes. */
export function openClient(client: unknown): OpenedClient | undefined {
  if (typeof client !== 'object' || client === null) return undefined
  const shape = client as Partial<NodeRedisCluster & IoredisClient & Pick<NodeRedisSentinel, 'getMasterNode'>> & {
    readonly isCluster?: unknown
    readonly options?: { readonly db?: unknown; readonly database?: unknown }
  }
  if (typeof shape.sendCommand === 'function' && 'masters' in client) {
    const cluster = client as NodeRedisCluster
    return {
      isCluster: true,
      database: undefined,
      send: (key, args) => cluster.sendCommand(key, false, args as string[]),
    }
  }
  // ioredis also has a `sendCommand`, which expects an object, so it is recognized by its `call`.
  if (typeof shape.call === 'function') {
    const { call } = client as IoredisClient
    const send: Send = (_, [name, ...args]) => call.call(client, name as string, args as (string | Buffer)[])
    return { isCluster: shape.isCluster === true, database: numberIn(shape.options?.db), send }
  }
  if (typeof shape.sendCommand !== 'function') return undefined
  if (typeof shape.getMasterNode === 'function') {
    const sentinel = client as NodeRedisSentinel
    // Its options are hidden.
    return { isCluster: false, database: undefined, send: (_, args) => sentinel.sendCommand(false, args as string[]) }
  }
  const single = client as NodeRedisClient
  // A client that has options without a database uses the first one.
  const database = shape.options === undefined ? undefined : numberIn(shape.options.database ?? 0)
  return { isCluster: false, database, send: (_, args) => single.sendCommand(args as string[]) }
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
