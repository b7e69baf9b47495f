import type { OperableStore, ParkedFilter, Redrive, RedriveProgress, RedriveSettings } from '../../contracts/index.ts'
import { parkedMessage, present } from '../sample-records.ts'
import { park } from './parked-rows.ts'

export function redriveSettings(id: string, changes: Partial<RedriveSettings> = {}): RedriveSettings {
  return { id, by: 'ana', why: 'it is mended', canary: 0, perSecond: undefined, stopAfterFailures: 10, ...changes }
}

/** One dead letter for each key, parked one after the other. */
export async function bury<Tx>(store: OperableStore<Tx>, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await park(store, parkedMessage(key, { state: 'dead', attempts: 5 }))
}

export function start<Tx>(store: OperableStore<Tx>, id: string, filter: ParkedFilter = {}): Promise<number> {
  return store.transaction((tx) => store.redrives.start(tx, redriveSettings(id), filter))
}

export function release<Tx>(store: OperableStore<Tx>, id: string, limit = 100): Promise<number> {
  return store.transaction((tx) => store.redrives.release(tx, id, limit))
}

export function end<Tx>(
  store: OperableStore<Tx>,
  id: string,
  state: 'finished' | 'stopped' = 'finished',
): Promise<void> {
  return store.transaction((tx) => store.redrives.end(tx, id, state))
}

/** Takes a redrive to drive it and lets it go again; answers which it was. */
export async function drive<Tx>(store: OperableStore<Tx>): Promise<string | undefined> {
  return (await store.transaction((tx) => store.redrives.take(tx)))?.redrive.id
}

export async function found<Tx>(
  store: OperableStore<Tx>,
  id: string,
): Promise<{ readonly redrive: Redrive; readonly progress: RedriveProgress }> {
  return present(await store.redrives.find(id), `the redrive ${id}`)
}

export async function progressOf<Tx>(store: OperableStore<Tx>, id: string): Promise<RedriveProgress> {
  return (await found(store, id)).progress
}
