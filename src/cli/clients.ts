import { UsageError } from './command.ts'
import { projectModule } from './project-module.ts'

/** A client of the user's project for a database, and how to end it. */
export interface Connected<Client> {
  readonly client: Client
  close(): Promise<unknown>
}

/** Opens a pool with pg or postgres.js, as the project has it. */
export function postgresClient(wantedBy: string): { readonly kind: 'pg' | 'postgres.js'; open(url: string): unknown } {
  const pg = projectModule('pg') as { Pool: new (config: object) => unknown } | undefined
  if (pg !== undefined)
    return {
      kind: 'pg',
      open: (connectionString) => new pg.Pool({ connectionString, connectionTimeoutMillis: 30_000 }),
    }
  const postgres = projectModule('postgres') as ((url: string) => unknown) | undefined
  if (postgres !== undefined) return { kind: 'postgres.js', open: (url) => postgres(url) }
  throw new UsageError(`${wantedBy} needs pg or postgres.js in your project: npm install pg`)
}

export function mysqlClient(wantedBy: string): (url: string) => unknown {
  const mysql = projectModule('mysql2/promise') as { createPool(url: string): unknown } | undefined
  if (mysql === undefined) throw new UsageError(`${wantedBy} needs mysql2 in your project: npm install mysql2`)
  return (url) => mysql.createPool(url)
}

/** As long as mysql2 waits for a server that has taken the connection and says nothing. */
const connectedWithinMs = 10_000

/** A client that is connected, of `redis` or `ioredis`. */
export async function redisClient(
  wantedBy: string,
  url: string,
  withinMs = connectedWithinMs,
): Promise<Connected<unknown>> {
  const redis = projectModule('redis') as RedisModule | undefined
  if (redis !== undefined) {
    const client = redis.createClient({ url })
    const close = async () => (client.destroy === undefined ? await client.disconnect?.() : client.destroy())
    await connectOnce(client, close, withinMs)
    return { client, close }
  }
  const ioredis = projectModule('ioredis') as IoredisModule | undefined
  if (ioredis === undefined)
    throw new UsageError(`${wantedBy} needs redis or ioredis in your project: npm install redis`)
  const client = new ioredis(url, { lazyConnect: true })
  const close = async () => client.disconnect()
  await connectOnce(client, close, withinMs)
  return { client, close }
}

/** By itself a client tries for ever, in silence. Later it may: whoever has begun wants it to go on. */
async function connectOnce(client: RedisConnection, close: () => Promise<unknown>, withinMs: number): Promise<void> {
  const failed = Promise.withResolvers<never>()
  // Without a listener an error would end the process; the store reports what matters.
  client.on('error', failed.reject)
  failed.promise.catch(() => {})
  const connecting = client.connect()
  connecting.catch(() => {})
  // The clients have a limit for the connection only, and none for the first answer.
  const giveUp = (): void => failed.reject(new Error(`it takes connections, and has said nothing for ${withinMs} ms`))
  const timer = setTimeout(giveUp, withinMs)
  try {
    await Promise.race([failed.promise, connecting])
  } catch (error) {
    await close()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

interface RedisConnection {
  on(event: 'error', listener: (error: unknown) => void): unknown
  connect(): Promise<unknown>
}

type IoredisModule = new (url: string, options: { lazyConnect: true }) => RedisConnection & { disconnect(): void }

interface RedisModule {
  createClient(options: { url: string }): RedisConnection & {
    destroy?(): unknown
    disconnect?(): Promise<unknown>
  }
}
