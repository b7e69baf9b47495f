import type { ParkedFilter, Store } from '../../contracts/index.ts'
import {
  endRedrive,
  type FoundRedrive,
  findRedrives,
  progressOf,
  releaseLetters,
  runningRedrives,
  startRedrive,
} from '../../operations/redrives.ts'
import { RivalError } from '../../operations/rivals.ts'
import type { RedriveSettings } from '../../operations/types.ts'
import { parkedMessage, present } from '../sample-records.ts'
import { park } from './parked-rows.ts'

export function redriveSettings(id: string, changes: Partial<RedriveSettings> = {}): RedriveSettings {
  return { id, by: 'ana', why: 'it is fixed', canary: 0, perSecond: undefined, stopAfterFailures: 10, ...changes }
}

/** One dead letter for each key, parked one after another. */
export async function bury<Tx>(store: Store<Tx>, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await park(store, parkedMessage(key, { state: 'dead', attempts: 5 }))
}

/** Rejects if another process was first. */
export async function start<Tx>(store: Store<Tx>, id: string, filter: ParkedFilter = {}): Promise<number> {
  const running = await runningRedrives(store)
  return await store.transaction(async (tx) =>
    orRival(await startRedrive(store, tx, running, redriveSettings(id), { ...filter, state: 'dead' })),
  )
}

export async function release<Tx>(store: Store<Tx>, id: string, limit = 100): Promise<number> {
  return await releaseAsSeen(store, await found(store, id), limit)
}

export function releaseAsSeen<Tx>(store: Store<Tx>, seen: FoundRedrive, limit = 100): Promise<number> {
  return store.transaction(async (tx) => orRival(await releaseLetters(store, tx, seen, limit)))
}

export async function end<Tx>(store: Store<Tx>, id: string, state: 'finished' | 'stopped' = 'finished'): Promise<void> {
  const running = await runningRedrives(store)
  const seen = await found(store, id)
  const reached = await progressOf(store, id)
  await store.transaction(async (tx) => {
    if (!(await endRedrive(store, tx, running, seen, { state, reached }))) throw new RivalError()
  })
}

export async function found<Tx>(store: Store<Tx>, id: string): Promise<FoundRedrive> {
  return present((await findRedrives(store, [id]))[0], `the redrive ${id}`)
}

function orRival(answer: number | undefined): number {
  if (answer === undefined) throw new RivalError()
  return answer
}
