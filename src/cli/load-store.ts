import type { Store } from '../contracts/index.ts'
import { UsageError } from './command.ts'
import { importFile } from './import-file.ts'

/** Works with the store that a file of the user exports, as default or under the name `store`, and closes it. */
export async function withStore(file: string, work: (store: Store) => Promise<number>): Promise<number> {
  const store = await loadStore(file)
  try {
    return await work(store)
  } finally {
    await store.close().catch(() => {})
  }
}

async function loadStore(file: string): Promise<Store> {
  const { default: byDefault, store: named } = await importFile(file)
  const store = [byDefault, named].find((each) => each !== undefined)
  if (isStore(store)) return store
  const found = store === undefined ? 'exports no store' : `exports ${described(store)} instead of a store`
  throw new UsageError(
    `${file} ${found}. Export it as default or as 'store', for example: export default postgresStore({ pool })`,
  )
}

function isStore(value: unknown): value is Store {
  return typeof value === 'object' && value !== null && 'schema' in value && 'transaction' in value
}

function described(value: unknown): string {
  if (value instanceof Promise) return 'a promise'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
