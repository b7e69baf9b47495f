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
  if (pg !== undefined) return { kind: 'pg', open: (connectionString) => new pg.Pool({ connectionString }) }
  const postgres = projectModule('postgres') as ((url: string) => unknown) | undefined
  if (postgres !== undefined) return { kind: 'postgres.js', open: (url) => postgres(url) }
  throw new UsageError(`${wantedBy} needs pg or postgres.js in your project: npm install pg`)
}

export function mysqlClient(wantedBy: string): (url: string) => unknown {
  const mysql = projectModule('mysql2/promise') as { createPool(url: string): unknown } | undefined
  if (mysql === undefined) throw new UsageError(`${wantedBy} needs mysql2 in your project: npm install mysql2`)
  return (url) => mysql.createPool(url)
}

/** A client that is connected, of `redis` or `ioredis`. */
export async function redisClient(wantedBy: string, url: string): Promise<Connected<unknown>> {
  const redis = projectModule('redis') as RedisModule | undefined
  if (redis !== undefined) {
    const client = redis.createClient({ url })
    // Without a listener an error would end the process; the store reports what matters.
    client.on('error', () => {})
    await client.connect()
    return { client, close: async () => (client.destroy === undefined ? await client.quit?.() : client.destroy()) }
  }
  const ioredis = projectModule('ioredis') as (new (url: string) => { disconnect(): void }) | undefined
  if (ioredis === undefined)
    throw new UsageError(`${wantedBy} needs redis or ioredis in your project: npm install redis`)
  const client = new ioredis(url)
  return { client, close: async () => client.disconnect() }
}

interface RedisModule {
  createClient(options: { url: string }): {
    on(event: 'error', listener: () => void): unknown
    connect(): Promise<unknown>
    destroy?(): unknown
    quit?(): Promise<unknown>
  }
}
