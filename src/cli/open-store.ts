import { existsSync } from 'node:fs'
import type { Store } from '../contracts/index.ts'
import { type Operations, operations } from '../operations/index.ts'
import { mysqlClient, postgresClient, redisClient } from './clients.ts'
import { UsageError } from './command.ts'
import { importFile } from './import-file.ts'
import type { GivenOptions, OptionSpec } from './options.ts'

export const storeOptions = {
  store: {
    kind: 'text',
    value: 'url | file',
    text: 'postgres://…, mysql://…, redis://…, sqlite:path, or a file that exports the store. Default: $JUSTONCE_STORE',
  },
  config: {
    kind: 'text',
    value: 'file',
    text: 'exports the app, the store, or what sharded() has returned. Default: justonce.config.ts (.mts, .js, .mjs) in the current folder',
  },
  shard: {
    kind: 'text',
    value: 'name',
    text: 'one shard of a config that exports what sharded() has returned. Default: all of them, one after the other',
  },
  prefix: {
    kind: 'text',
    value: 'prefix',
    text: 'of the tables, or the hash tag on Redis, if the store is given as a URL',
  },
  schema: { kind: 'text', value: 'schema', text: 'of the tables, if the store is given as the URL of a Postgres' },
} as const satisfies Record<string, OptionSpec>

/** What a command works with. */
export interface Opened {
  /** Its name, if there are several. */
  readonly shard?: string | undefined
  readonly store: Store
  /** Those of the app, if there is one: it knows its handlers. */
  readonly operations: Operations
  readonly hasApp: boolean
  close(): Promise<void>
}

const configs = ['ts', 'mts', 'js', 'mjs'].map((ending) => `justonce.config.${ending}`)

/** One, or one for each shard. */
export async function openStores(given: Pick<GivenOptions, 'text'>): Promise<readonly [Opened, ...Opened[]]> {
  const [store, config, shard] = [given.text('store'), given.text('config'), given.text('shard')]
  if (store !== undefined && config !== undefined) throw new UsageError('--store and --config do not go together.')
  const file = config ?? configs.find((name) => existsSync(name))
  const fromEnvironment = process.env.JUSTONCE_STORE
  if (store !== undefined) return chosen(await openGiven(store, given), shard)
  if (file !== undefined) return chosen(await openFile(file), shard)
  if (fromEnvironment !== undefined && fromEnvironment !== '')
    return chosen(await openGiven(fromEnvironment, given), shard)
  throw new UsageError(
    'which store? Give --store <url or file>, set JUSTONCE_STORE, or export the app from a justonce.config.ts in this folder.',
  )
}

type OneOrMore = readonly [Opened, ...Opened[]]

function chosen(all: OneOrMore, shard: string | undefined): OneOrMore {
  if (shard === undefined) return all
  const names = all.flatMap(({ shard }) => shard ?? [])
  if (names.length === 0) throw new UsageError('--shard goes with a config that exports what sharded() has returned.')
  const found = all.find((each) => each.shard === shard)
  if (found === undefined) throw new UsageError(`there is no shard ${shard}. Give one of: ${names.join(', ')}.`)
  return [found]
}

async function openGiven(text: string, given: Pick<GivenOptions, 'text'>): Promise<OneOrMore> {
  const scheme = /^([a-z]+):/i.exec(text)?.[1]?.toLowerCase()
  const isUrl = scheme !== undefined && Object.hasOwn(openers, scheme) && !existsSync(text)
  const [prefix, schema] = [given.text('prefix'), given.text('schema')]
  if (!isUrl) {
    if (prefix !== undefined || schema !== undefined)
      throw new UsageError('--prefix and --schema go with the URL of a store; a file says them itself.')
    return await openFile(text)
  }
  const { store, close } = await (openers[scheme] as Opener)(text, { prefix, schema })
  const closeBoth = async (): Promise<void> => {
    await store.close().catch(() => {})
    await close()
  }
  return [{ store, operations: operations(store), hasApp: false, close: closeBoth }]
}

type Names = { readonly prefix: string | undefined; readonly schema: string | undefined }
type Opener = (url: string, names: Names) => Promise<{ readonly store: Store; close(): Promise<unknown> }>

/** Clients are those of the user's project, and the stores are loaded only when they are asked for. */
const postgres: Opener = async (url, names) => {
  const { postgresStore } = await import('../stores/postgres/index.ts')
  const { kind, open } = postgresClient('a postgres:// store')
  const client = open(url) as { end(): Promise<unknown> }
  const way = kind === 'pg' ? { pool: client } : { sql: client }
  const store = postgresStore({ ...way, ...names, listen: false } as unknown as Parameters<typeof postgresStore>[0])
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

const sqlite: Opener = async (url, { prefix, schema }) => {
  if (prefix !== undefined || schema !== undefined) throw new UsageError('SQLite has neither --prefix nor --schema.')
  const { sqliteStore } = await import('../stores/sqlite/index.ts')
  const path = url.replace(/^(sqlite|file):(\/\/)?/i, '')
  if (path === '') throw new UsageError('which file? Give sqlite:path.')
  return { store: sqliteStore({ path }) as unknown as Store, close: async () => {} }
}

const openers: Readonly<Record<string, Opener>> = {
  ...{ postgres, postgresql: postgres, mysql, mariadb: mysql, redis, rediss: redis, sqlite, file: sqlite },
}

interface AppLike {
  readonly operations: Operations
  readonly store: Store
  stop(): Promise<void>
}

async function openFile(file: string): Promise<OneOrMore> {
  const { default: byDefault, store: namedStore, app: namedApp } = await importFile(file)
  const found = [byDefault, namedApp, namedStore].filter((each) => each !== undefined)
  const sharded = found.find(isSharded)
  if (sharded !== undefined) {
    const opened = Object.entries(sharded.apps).map(([shard, app]) => ({ shard, ...ofApp(app) }))
    return opened as unknown as OneOrMore
  }
  const app = found.find(isApp)
  if (app !== undefined) return [ofApp(app)]
  const store = found.find(isStore)
  if (store !== undefined)
    return [
      {
        ...{ store, operations: operations(store), hasApp: false },
        close: async () => await store.close().catch(() => {}),
      },
    ]
  const [first] = found
  const instead = first === undefined ? 'exports no store' : `exports ${described(first)} instead of a store`
  throw new UsageError(
    `${file} ${instead}. Export it as default or as 'store', for example: export default postgresStore({ pool })`,
  )
}

function ofApp(app: AppLike): Opened {
  const close = async (): Promise<void> => {
    await app.stop().catch(() => {})
    await app.store.close().catch(() => {})
  }
  return { store: app.store, operations: app.operations, hasApp: true, close }
}

function isSharded(value: unknown): value is { readonly apps: Readonly<Record<string, AppLike>> } {
  if (typeof value !== 'object' || value === null || !('apps' in value) || !('reassign' in value)) return false
  return Object.values(value.apps as object).every(isApp)
}

function isStore(value: unknown): value is Store {
  return typeof value === 'object' && value !== null && 'schema' in value && 'transaction' in value
}

function isApp(value: unknown): value is AppLike {
  return typeof value === 'object' && value !== null && 'operations' in value && 'store' in value
}

function described(value: unknown): string {
  if (value instanceof Promise) return 'a promise'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
