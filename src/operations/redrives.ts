import type { ParkedFilter, Store, StoredParkedMessage } from '../contracts/index.ts'
import { timeOfRevision } from '../facts/index.ts'
import type { Redrive, RedriveProgress, RedriveSettings } from './types.ts'

/** The ids of the running redrives: a mark on a row counts only while its redrive is among them. */
export interface RunningRedrives {
  readonly ids: readonly string[]
  /** The revision of the list; `undefined` if there never was one. It grows with every hold, too. */
  readonly revision: number | undefined
  /** How often the list was changed or held. */
  readonly turn: number
}

export interface FoundRedrive {
  readonly redrive: Redrive
  /** Changes whenever something is released, and when the redrive ends. */
  readonly revision: number
  /** How many of its dead letters were released. */
  readonly released: number
  /** From when its pace counts. It moves on when nobody has released anything for a while. */
  readonly paceFrom: Date
}

type Facts<Tx> = Pick<Store<Tx>, 'facts'>

const runningName = 'redrives running'
const kind = 'redrive'
const nameOf = (id: string): string => `${kind} ${id}`

export async function runningRedrives<Tx>({ facts }: Facts<Tx>): Promise<RunningRedrives> {
  const [known] = await facts.read([runningName])
  if (known === undefined) return { ids: [], turn: 0, revision: undefined }
  return { ...(JSON.parse(known.value) as Pick<RunningRedrives, 'ids' | 'turn'>), revision: known.revision }
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

const listOf = (ids: readonly string[], { revision, turn }: RunningRedrives) => {
  return { name: runningName, from: revision, value: JSON.stringify({ ids, turn: turn + 1 }), forMs: undefined }
}

/**
 * Lets no redrive start or end before this transaction does. False if one was started or ended since `running` was read, or if
 * letters were marked or discarded since then; this transaction must then not be committed.
 */
export async function holdRunning<Tx>({ facts }: Facts<Tx>, tx: Tx, running: RunningRedrives): Promise<boolean> {
  return (await facts.change(tx, [listOf(running.ids, running)]))[0] !== undefined
}

/** How many rows one transaction marks: more would take longer than a store waits for its commit. */
const markedAtOnce = 10_000

/**
 * Marks dead letters of a selection that is too large for one transaction, before the redrive starts: until then the marks
 * mean nothing. Resolves to whether there may be more. `undefined` as below.
 */
export async function markAhead<Tx>(
  store: Pick<Store<Tx>, 'facts' | 'parking'>,
  tx: Tx,
  running: RunningRedrives,
  redrive: string,
  filter: ParkedFilter,
): Promise<boolean | undefined> {
  if (!(await holdRunning(store, tx, running))) return undefined
  const free = { ...filter, notInRedrives: [...running.ids, redrive] }
  const marked = await store.parking.edit(tx, free, { kind: 'mark', redrive }, markedAtOnce)
  return marked.length === markedAtOnce
}

/** Whether so many have to be marked ahead. */
export async function isTooManyToMark<Tx>({ parking }: Pick<Store<Tx>, 'parking'>, filter: ParkedFilter) {
  const [all] = await parking.tally(filter, [])
  return all !== undefined && all.count > markedAtOnce
}

/**
 * Stores the redrive and marks the matching dead letters that are in no other redrive, in addition to those that were marked
 * ahead. Their number must have been counted after `running` was read. `undefined` if a redrive was started or ended, or if
 * letters were marked or discarded, since `running` was read; this transaction must then not be committed.
 */
export async function startRedrive<Tx>(
  { facts, parking }: Pick<Store<Tx>, 'facts' | 'parking'>,
  tx: Tx,
  running: RunningRedrives,
  { id, ...settings }: RedriveSettings,
  filter: ParkedFilter,
  markedAhead = 0,
): Promise<number | undefined> {
  const ids = [...running.ids, id]
  // First of all, so that if two start at the same time, one waits for the other's marks.
  if ((await facts.change(tx, [listOf(ids, running)]))[0] === undefined) return undefined
  const free = { ...filter, notInRedrives: ids }
  let selected = markedAhead
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
  paceFrom = found.paceFrom,
): Promise<number | undefined> {
  const { id } = found.redrive
  const unreleased = { redrive: id, released: false, state: 'dead' } as const
  const { length } = await parking.edit(tx, unreleased, { kind: 'release' }, count)
  if (length === 0) return 0
  const value = keptValue(found, { released: found.released + length, paceFrom: paceFrom.getTime() })
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
  readonly paceFrom?: number
  readonly reached?: RedriveProgress
}

function keptValue({ redrive, released, paceFrom }: FoundRedrive, changes: Partial<KeptRedrive>): string {
  const { by, why, canary, perSecond, stopAfterFailures, selected, state, startedAt } = redrive
  const settings = { by, why, canary, perSecond, stopAfterFailures }
  const times = { startedAt: startedAt.getTime(), paceFrom: paceFrom.getTime() }
  const kept: KeptRedrive = { ...settings, selected, released, state, ...times, ...changes }
  return JSON.stringify(kept)
}

function redriveIn(
  id: string,
  { value, revision }: { readonly value: string; readonly revision: number },
): FoundRedrive | undefined {
  const kept = readable(value)
  if (kept === undefined) return undefined
  const { by, why, canary, perSecond, stopAfterFailures, state, selected, released, startedAt, paceFrom, reached } =
    kept
  const changedAt = timeOfRevision(revision)
  const redrive: Redrive = {
    ...{ id, by, why, canary, perSecond, stopAfterFailures, state, selected, reached },
    startedAt: startedAt === undefined ? changedAt : new Date(startedAt),
    endedAt: state === 'running' ? undefined : changedAt,
  }
  return { redrive, revision, released, paceFrom: paceFrom === undefined ? redrive.startedAt : new Date(paceFrom) }
}

/** A redrive that was changed by hand must not hide the others. */
function readable(value: string): KeptRedrive | undefined {
  try {
    return JSON.parse(value) as KeptRedrive
  } catch {
    return undefined
  }
}
