import { existsSync } from 'node:fs'
import type { Store } from '../contracts/index.ts'
import { type Operations, operations } from '../operations/index.ts'
import { UsageError } from './command.ts'
import { importFile } from './import-file.ts'
import { openerOf, type StoreNames } from './open-url.ts'
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
    text: 'exports the app, the store, or what sharded() has returned. Default, without $JUSTONCE_STORE: justonce.config.ts (.mts, .cts, .js, .mjs, .cjs) in the current folder',
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

const configs = ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs'].map((ending) => `justonce.config.${ending}`)

/** One, or one for each shard. */
export async function openStores(
  given: Pick<GivenOptions, 'text'>,
  { mayCreate = false }: { readonly mayCreate?: boolean } = {},
): Promise<OneOrMore> {
  const [store, config, shard] = [given.text('store'), given.text('config'), given.text('shard')]
  if (store !== undefined && config !== undefined) throw new UsageError('--store and --config do not go together.')
  const names = { prefix: given.text('prefix'), schema: given.text('schema') }
  // Where a folder has a config, somebody who sets the variable means another store, such as that of the owner of the tables.
  const url = store ?? (config === undefined ? process.env.JUSTONCE_STORE || undefined : undefined)
  if (url !== undefined) return chosen(await openGiven(url, { ...names, mayCreate }), shard)
  const file = config ?? configs.find((name) => existsSync(name))
  if (file !== undefined) return chosen(await openNamed(file, names), shard)
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

async function openGiven(text: string, given: StoreNames & { readonly mayCreate: boolean }): Promise<OneOrMore> {
  const opener = existsSync(text) ? undefined : openerOf(text)
  if (opener === undefined) return await openNamed(text, given)
  const { store, close } = await opener(text, given)
  const closeBoth = async (): Promise<void> => {
    await store.close().catch(() => {})
    await close()
  }
  return [{ store, operations: operations(store), hasApp: false, close: closeBoth }]
}

/** What it exports has its names: others that are given would be ignored, and another store shown than was asked for. */
async function openNamed(file: string, { prefix, schema }: StoreNames): Promise<OneOrMore> {
  if (prefix === undefined && schema === undefined) return await openFile(file)
  throw new UsageError(`--prefix and --schema go with the URL of a store; ${file} says them itself.`)
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
