import { existsSync } from 'node:fs'
import type { Store } from '../contracts/index.ts'
import { isJustonceError } from '../errors/index.ts'
import { mysqlClient, postgresClient, redisClient } from './clients.ts'
import { UsageError } from './command.ts'
import { saidBy } from './reaching.ts'

/** As which tables the store has its own, if not as usual. */
export interface StoreNames {
  readonly prefix: string | undefined
  readonly schema: string | undefined
}

type Opener = (
  url: string,
  given: StoreNames & { readonly mayCreate: boolean },
) => Promise<{ readonly store: Store; close(): Promise<unknown> }>

/** Clients are those of the user's project, and the stores are loaded only when they are asked for. */
const postgres: Opener = async (url, { prefix, schema }) => {
  const { postgresStore } = await import('../stores/postgres/index.ts')
  const { kind, open } = postgresClient('a postgres:// store')
  const client = open(url) as { end(): Promise<unknown> }
  const way = kind === 'pg' ? { pool: client } : { sql: client }
  const store = postgresStore({ ...way, prefix, schema, listen: false } as unknown as Parameters<
    typeof postgresStore
  >[0])
  return { store: store as unknown as Store, close: () => client.end() }
}

const mysql: Opener = async (url, { prefix, schema }) => {
  const { mysqlStore } = await import('../stores/mysql/index.ts')
  const pool = mysqlClient('a mysql:// store')(url.replace(/^mariadb:/i, 'mysql:')) as { end(): Promise<unknown> }
  const store = mysqlStore({ pool, prefix, database: schema } as unknown as Parameters<typeof mysqlStore>[0])
  return { store: store as unknown as Store, close: () => pool.end() }
}

const redis: Opener = async (url, { prefix, schema }) => {
  if (schema !== undefined) throw new UsageError('Redis has no schemas.')
  const { redisStore } = await import('../stores/redis/index.ts')
  const { client, close } = await redisClient('a redis:// store', url)
  // An operator may write a record, that of a discarded message; it is kept as long as the store keeps one by default.
  const recordTtlMs = 30 * 86_400_000
  const options = {
    mode: 'isolated',
    client,
    recordTtlMs,
    onWarning() {},
    ...(prefix !== undefined && { hashTag: prefix }),
  }
  const store = redisStore(options as unknown as Parameters<typeof redisStore>[0])
  return { store: store as unknown as Store, close }
}

const sqlite: Opener = async (url, { prefix, schema, mayCreate }) => {
  if (prefix !== undefined || schema !== undefined) throw new UsageError('SQLite has neither --prefix nor --schema.')
  const { sqliteStore } = await import('../stores/sqlite/index.ts')
  const path = url.replace(/^(sqlite|file):(\/\/)?/i, '')
  if (path === '') throw new UsageError('which file? Give sqlite:path.')
  if (!mayCreate && path !== ':memory:' && !existsSync(path))
    throw new UsageError(`there is no file ${path}. If it should be a new one: justonce migrate --store sqlite:${path}`)
  return { store: sqliteStore({ path }) as unknown as Store, close: async () => {} }
}

const openers: Readonly<Record<string, Opener>> = {
  ...{ postgres, postgresql: postgres, mysql, mariadb: mysql, redis, rediss: redis, sqlite, file: sqlite },
}

/** How the store of a URL is opened; `undefined` if the text is no URL of a store. */
export function openerOf(text: string): Opener | undefined {
  const scheme = /^([a-z]+):/i.exec(text)?.[1]?.toLowerCase()
  const opener = scheme !== undefined && Object.hasOwn(openers, scheme) ? openers[scheme] : undefined
  if (opener === undefined) return undefined
  return async (url, given) => {
    try {
      return await opener(url, given)
    } catch (error) {
      if (error instanceof UsageError || isJustonceError(error)) throw error
      // A URL that makes no sense, or a server that does not answer. Not with the URL: there may be a password in it.
      throw new UsageError(`the ${scheme} store cannot be opened: ${saidBy(error)}`)
    }
  }
}
