import type { Store, StoredParkedMessage } from '../contracts/index.ts'
import { timeOfRevision } from '../facts/index.ts'
import type { Redrive, RedriveProgress, RedriveSettings } from './types.ts'

/** The ids of the running redrives: a mark on a row counts only while its redrive is among them. */
export interface RunningRedrives {
  readonly ids: readonly string[]
  /** The revision of the list; `undefined` if there never was one. */
  readonly revision: number | undefined
}

export interface FoundRedrive {
  readonly redrive: Redrive
  /** Changes whenever something is released, and when the redrive ends. */
  readonly revision: number
  /** How many of its dead letters were released. */
  readonly released: number
}

type Facts<Tx> = Pick<Store<Tx>, 'facts'>

const runningName = 'redrives running'
const kind = 'redrive'
const nameOf = (id: string): string => `${kind} ${id}`

export async function runningRedrives<Tx>({ facts }: Facts<Tx>): Promise<RunningRedrives> {
  const [known] = await facts.read([runningName])
  return { ids: known === undefined ? [] : (JSON.parse(known.value) as string[]), revision: known?.revision }
}

/** The rows without the marks of redrives that have ended. */
export async function withRunningMarks<Tx>(
  store: Facts<Tx>,
  rows: readonly StoredParkedMessage[],
): Promise<readonly StoredParkedMessage[]> {
  if (rows.every(({ redrive }) => redrive === undefined)) return rows
  const { ids } = await runningRedrives(store)
  return rows.map((row) =>
    row.redrive === undefined || ids.includes(row.redrive) ? row : { ...row, redrive: undefined },
  )
}

const listOf = (ids: readonly string[], { revision }: RunningRedrives) => {
  return { name: runningName, from: revision, value: JSON.stringify(ids), forMs: undefined }
}

/**
 * Lets no redrive start or end before this transaction does. False if one was started or ended since `running` was read; this
 * transaction must then not be committed.
 */
export async function holdRunning<Tx>({ facts }: Facts<Tx>, tx: Tx, running: RunningRedrives): Promise<boolean> {
  return (await facts.change(tx, [listOf(running.ids, running)]))[0] !== undefined
}

/** How many rows are marked at a time, because their keys are returned. */
const markedAtOnce = 50_000

/**
 * Stores the redrive and marks the matching dead letters that are in no other redrive. `undefined` if a redrive was started or
 * ended since `running` was read; this transaction must then not be committed.
 */
export async function startRedrive<Tx>(
  { facts, parking }: Pick<Store<Tx>, 'facts' | 'parking'>,
  tx: Tx,
  running: RunningRedrives,
  { id, ...settings }: RedriveSettings,
  filter: Parameters<typeof parking.edit>[1],
): Promise<number | undefined> {
  const ids = [...running.ids, id]
  // First of all, so that if two start at the same time, one waits for the other's marks.
  if ((await facts.change(tx, [listOf(ids, running)]))[0] === undefined) return undefined
  const free = { ...filter, notInRedrives: ids }
  let selected = 0
  for (let marked = markedAtOnce; marked === markedAtOnce; selected += marked)
    marked = (await parking.edit(tx, free, { kind: 'mark', redrive: id }, markedAtOnce)).length
  const value = JSON.stringify({ ...settings, selected, released: 0, state: 'running' } satisfies KeptRedrive)
  await facts.change(tx, [{ name: nameOf(id), from: undefined, value, forMs: undefined }])
  return selected
}

/** Releases the first of its dead letters; resolves to how many. `undefined` as above, if another process drives it. */
export async function releaseLetters<Tx>(
  { facts, parking }: Pick<Store<Tx>, 'facts' | 'parking'>,
  tx: Tx,
  found: FoundRedrive,
  count: number,
): Promise<number | undefined> {
  const { id } = found.redrive
  const unreleased = { redrive: id, released: false, state: 'dead' } as const
  const { length } = await parking.edit(tx, unreleased, { kind: 'release' }, count)
  if (length === 0) return 0
  const value = keptValue(found, { released: found.released + length })
  const [revision] = await facts.change(tx, [{ name: nameOf(id), from: found.revision, value, forMs: undefined }])
  return revision === undefined ? undefined : length
}

/** Stores the final progress. What was not released stays a dead letter. False as above. */
export async function endRedrive<Tx>(
  { facts }: Facts<Tx>,
  tx: Tx,
  running: RunningRedrives,
  found: FoundRedrive,
  { state, reached }: { readonly state: 'finished' | 'stopped'; readonly reached: RedriveProgress },
): Promise<boolean> {
  const { id } = found.redrive
  const others = running.ids.filter((each) => each !== id)
  const answers = await facts.change(tx, [
    { name: nameOf(id), from: found.revision, value: keptValue(found, { state, reached }), forMs: undefined },
    listOf(others, running),
  ])
  return !answers.includes(undefined)
}

/** One answer per id; `undefined` if it does not exist. */
export async function findRedrives<Tx>(
  { facts }: Facts<Tx>,
  ids: readonly string[],
): Promise<readonly (FoundRedrive | undefined)[]> {
  const known = await facts.read(ids.map(nameOf))
  return known.map((fact, place) => fact && redriveIn(ids[place] as string, fact))
}

/** The redrives that started or ended last, sorted by start, latest first. */
export async function listRedrives<Tx>({ facts }: Facts<Tx>, limit: number): Promise<readonly Redrive[]> {
  const listed = await facts.list(kind, limit)
  return listed
    .flatMap(({ name, ...fact }) => redriveIn(name.slice(kind.length + 1), fact)?.redrive ?? [])
    .sort((a, b) => b.startedAt.getTime() - a.startedAt.getTime() || (a.id < b.id ? 1 : -1))
}

/** Counted from the current state of the rows. */
export async function progressOf<Tx>({ parking }: Pick<Store<Tx>, 'parking'>, id: string): Promise<RedriveProgress> {
  const progress = { unreleased: 0, untried: 0, failed: 0 }
  for (const { released, state, attempts, count } of await parking.tally({ redrive: id }, [
    'released',
    'state',
    'attempts',
  ])) {
    if (!released) progress.unreleased += count
    else progress[state === 'waiting' && attempts === 0 ? 'untried' : 'failed'] += count
  }
  return progress
}

/** What is stored of a redrive. */
interface KeptRedrive extends Omit<RedriveSettings, 'id'> {
  readonly state: Redrive['state']
  readonly selected: number
  readonly released: number
  /** Missing while the fact has not changed since it was made: its revision then says when that was. */
  readonly startedAt?: number
  readonly reached?: RedriveProgress
}

function keptValue({ redrive, released }: FoundRedrive, changes: Partial<KeptRedrive>): string {
  const { by, why, canary, perSecond, stopAfterFailures, selected, state, startedAt } = redrive
  const settings = { by, why, canary, perSecond, stopAfterFailures }
  const kept: KeptRedrive = { ...settings, selected, released, state, startedAt: startedAt.getTime(), ...changes }
  return JSON.stringify(kept)
}

function redriveIn(
  id: string,
  { value, revision }: { readonly value: string; readonly revision: number },
): FoundRedrive | undefined {
  const kept = readable(value)
  if (kept === undefined) return undefined
  const { by, why, canary, perSecond, stopAfterFailures, state, selected, released, startedAt, reached } = kept
  const changedAt = timeOfRevision(revision)
  const redrive: Redrive = {
    ...{ id, by, why, canary, perSecond, stopAfterFailures, state, selected, reached },
    startedAt: startedAt === undefined ? changedAt : new Date(startedAt),
    endedAt: state === 'running' ? undefined : changedAt,
  }
  return { redrive, revision, released }
}

/** A redrive that was changed by hand must not hide the others. */
function readable(value: string): KeptRedrive | undefined {
  try {
    return JSON.parse(value) as KeptRedrive
  } catch {
    return undefined
  }
}
