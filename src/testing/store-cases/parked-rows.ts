import type {
  DueOptions,
  NewParkedMessage,
  ParkedChange,
  ParkedFilter,
  Store,
  StoredParkedMessage,
} from '../../contracts/index.ts'
import { handler, present } from '../sample-records.ts'

export const anHour = 3_600_000

type Again = Extract<ParkedChange, { readonly kind: 'again' }>
type Dead = Extract<ParkedChange, { readonly kind: 'dead' }>

export function again(key: string, changes: Partial<Again> = {}): ParkedChange {
  return { ...failure, handler, key, kind: 'again', attempts: 2, delayMs: 0, ...changes }
}

export function dead(key: string, changes: Partial<Dead> = {}): ParkedChange {
  return { ...failure, handler, key, kind: 'dead', attempts: 5, ...changes }
}

export function done(key: string, changes: { readonly handler?: string } = {}): ParkedChange {
  return { handler, key, kind: 'done', ...changes }
}

const failure = { reason: 'HANDLER_FAILED', errors: '[]', shape: 'no' } as const

export function park<Tx>(store: Store<Tx>, ...messages: readonly NewParkedMessage[]): Promise<void> {
  return store.transaction((tx) => store.parking.park(tx, messages))
}

export function change<Tx>(store: Store<Tx>, ...changes: readonly ParkedChange[]): Promise<void> {
  return store.transaction((tx) => store.parking.change(tx, changes))
}

export function keysOf(rows: readonly { readonly key: string }[]): string[] {
  return rows.map(({ key }) => key)
}

interface ReserveOptions extends Partial<DueOptions> {
  /** Used instead of `wanted`: these handlers, with messages of any type. */
  readonly handlers?: readonly string[]
}

export function reserve<Tx>(
  store: Store<Tx>,
  { handlers = [handler], ...options }: ReserveOptions = {},
): Promise<readonly StoredParkedMessage[]> {
  const wanted = handlers.map((name) => ({ handler: name, type: undefined }))
  const defaults = { limit: 10, maxBytes: 10_000_000, forMs: anHour, wanted, pastDead: [] }
  return store.parking.reserve({ ...defaults, ...options })
}

/** What could be reserved now, in alphabetical order. It is released at once. */
export async function dueKeys<Tx>(store: Store<Tx>, options: ReserveOptions = {}): Promise<string[]> {
  const reserved = await reserve(store, options)
  await store.parking.rebook(reserved, 0)
  return keysOf(reserved).sort()
}

export async function listedKeys<Tx>(store: Store<Tx>, filter?: ParkedFilter): Promise<string[]> {
  return keysOf(await store.parking.list(filter))
}

/** The current row of that key. */
export async function rowOf<Tx>(store: Store<Tx>, key: string, name = handler): Promise<StoredParkedMessage> {
  return present((await store.parking.list({ handler: name, key }))[0], `the parked row of ${key}`)
}
