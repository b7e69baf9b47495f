import { randomBytes } from 'node:crypto'
import type { ClaimRequest, InboxRecord, RecordKey, RecordState } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { type Seen, stillSays, type Told } from './epoch.ts'
import { changedSinceSnapshot, duplicateKey, errorNumber } from './errors.ts'
import { bytes, type Cell, dateIn, integer, nowMs, optionalTextIn, textIn } from './literals-and-cells.ts'
import type { Claims } from './provisional.ts'
import type { Runner } from './runner.ts'
import { foundByKey, givenRows, handlerValue, inGroups, keyValue } from './statement-parts.ts'
import type { Tables } from './tables.ts'

/** What the last claim was like, as a guess for the next one. */
export interface ClaimHabit {
  /** Most keys already had records, so it is cheaper to look before claiming. */
  mostlyKnown: boolean
}

export interface Claimed {
  readonly epoch: string
  readonly existing: readonly (InboxRecord | undefined)[]
  readonly tooOld: ReadonlySet<number>
  /** The token that marks the rows of this claim. */
  readonly token: string
}

export interface ClaimOptions {
  readonly requests: readonly ClaimRequest[]
  /** What our table said a moment ago. A claim that proves it need not read it. */
  readonly recalled?: Seen | undefined
  /** Asked before the claim, because an epoch and a horizon that are too old are better than too new. */
  read(): Promise<Seen>
  readonly habit: ClaimHabit
  /** The earlier claims of the same transaction. */
  readonly before: readonly Claims[]
}

/**
 * A claim that proves something is a list of SELECTs, which the server reads more slowly than VALUES: with fifty rows it is
 * still faster than a trip to read what it proves, with two hundred it is not.
 */
const mostProving = 50

/** A record can vanish between the two statements, but hardly this often. */
const mostTurns = 20

/**
 * Claims by a plain INSERT. If that reports a duplicate, looks up which records exist and claims the rest. A successful
 * INSERT proves that every row is ours, without a look; a failed one leaves nothing behind. `INSERT IGNORE` would truncate
 * keys, and ON DUPLICATE KEY UPDATE would lock every duplicate against other transactions.
 */
export async function claimAll(runner: Runner, tables: Tables, options: ClaimOptions): Promise<Claimed> {
  const { requests, recalled, habit, before } = options
  const { inbox } = tables
  const own = new Set(before.map((claims) => claims.token))
  const existing: (InboxRecord | undefined)[] = requests.map(() => undefined)
  const token = tokenIn(randomBytes(8))
  const mayProve =
    recalled !== undefined &&
    requests.length <= mostProving &&
    !habit.mostlyKnown &&
    oldOnes(requests, recalled).length === 0
  const proven = mayProve ? await insert(runner, tables, { requests, token, told: recalled }) : undefined
  if (proven === 'ours') return { epoch: (recalled as Seen).epoch, existing, tooOld: new Set(), token }
  const seen = proven === 'known' ? (recalled as Seen) : await options.read()
  const old = oldOnes(requests, seen)
  const tooOld = new Set(old)
  let open = requests.map((_, place) => place)
  let looks = habit.mostlyKnown || old.length > 0 || proven === 'known'
  for (let turn = 1; open.length > 0; turn++) {
    if (turn > mostTurns) throw new Error(`${open.length} claims could neither be made nor found, ${mostTurns} times.`)
    const asked = open.map((place) => requests[place] as ClaimRequest)
    if (looks) {
      const { records, abandoned } = await look(runner, inbox, asked, { locked: turn > 2, own })
      await removeAbandoned(runner, inbox, [...abandoned.values()])
      for (const place of open) {
        const name = nameOf(requests[place] as ClaimRequest)
        existing[place] = records.get(name)
        if (records.has(name) || abandoned.has(name)) tooOld.delete(place)
      }
      open = open.filter((place) => existing[place] === undefined && !tooOld.has(place))
    } else if ((await insert(runner, tables, { requests: asked, token })) === 'ours') open = []
    looks = !looks
  }
  habit.mostlyKnown = existing.filter((record) => record !== undefined).length > existing.length / 2
  return { epoch: seen.epoch, existing, tooOld, token }
}

/** The places of those that were born before the horizon. */
function oldOnes(requests: readonly ClaimRequest[], { horizonMs }: Told): number[] {
  return requests.flatMap(({ born }, place) => (isBefore(born, horizonMs) ? [place] : []))
}

function tokenIn(cell: Cell | undefined): string {
  return bytes(cell ?? undefined)
}

function isBefore(born: Date | undefined, horizonMs: number | undefined): boolean {
  return born !== undefined && horizonMs !== undefined && born.getTime() < horizonMs
}

interface Rows {
  readonly requests: readonly ClaimRequest[]
  readonly token: string
  /** Rows come into being only while our table still says so. A duplicate is found in such a row, so it proves it, too. */
  readonly told?: Told
}

/** All of them are ours now, or none of them is. */
async function insert(
  runner: Runner,
  { inbox, meta }: Tables,
  { requests, token, told }: Rows,
): Promise<'ours' | 'known' | 'not proven'> {
  const rows = requests.map(({ handler, key, born, fingerprint }) => [
    ...[handlerValue(handler), keyValue(key), integer(born?.getTime())],
    ...[bytes(fingerprint), nowMs, token],
  ])
  const columns = ['handler', '`key`', 'born', 'fingerprint', 'processed_at', 'token']
  const values =
    told === undefined
      ? `VALUES ${rows.map((row) => `(${row.join(', ')})`).join(', ')}`
      : `SELECT given.* FROM ${givenRows(columns, rows)} STRAIGHT_JOIN ${meta} WHERE ${stillSays(told)}`
  try {
    const { count } = await runner.run(`INSERT INTO ${inbox} (${columns.join(', ')}) ${values}`)
    return told !== undefined && count === 0 ? 'not proven' : 'ours'
  } catch (error) {
    if (errorNumber(error) === duplicateKey) return 'known'
    throw error
  }
}

interface Found {
  readonly records: ReadonlyMap<string, InboxRecord>
  /** Claims of a transaction that was committed before they were done. They count as never made. */
  readonly abandoned: ReadonlyMap<string, RecordKey>
}

/**
 * In a transaction of the caller with stricter isolation than ours, only a locking read sees what another transaction has
 * committed. It is used if the ordinary read has not found the conflicting row.
 */
export async function look(
  runner: Runner,
  inbox: string,
  keys: readonly RecordKey[],
  { locked, own }: { readonly locked: boolean; readonly own?: ReadonlySet<string> },
): Promise<Found> {
  const records = new Map<string, InboxRecord>()
  const abandoned = new Map<string, RecordKey>()
  try {
    for (const group of inGroups(keys)) {
      const { rows } = await runner.run(
        `SELECT known.handler, known.\`key\`, known.state, known.fingerprint, known.processed_at, known.result, known.token
         FROM ${foundByKey(inbox, 'PRIMARY', group)}${locked ? ' LOCK IN SHARE MODE' : ''}`,
      )
      for (const row of rows) {
        const key = { handler: textIn(row[0]), key: textIn(row[1]) }
        const isOpen = textIn(row[2]) === 'open'
        // Not abandoned: this transaction has claimed it, and has suspended it while others might commit.
        if (isOpen && own?.has(tokenIn(row[6]))) records.set(nameOf(key), { ...recordIn(row, 2), state: 'processed' })
        else if (isOpen) abandoned.set(nameOf(key), key)
        else records.set(nameOf(key), recordIn(row, 2))
      }
    }
  } catch (error) {
    if (errorNumber(error) !== changedSinceSnapshot) throw error
    throw new JustonceError('ISOLATION_TOO_STRICT', {
      message: 'A rival has claimed the same key after the snapshot of this transaction was taken.',
      cause: error,
    })
  }
  return { records, abandoned }
}

/** If another process is removing the same rows, it has claimed them first, and the next look finds its claims. */
async function removeAbandoned(runner: Runner, inbox: string, keys: readonly RecordKey[]): Promise<void> {
  for (const group of inGroups(keys))
    await runner.run(`DELETE known FROM ${foundByKey(inbox, 'PRIMARY', group)} AND known.state = 'open'`)
}

/** Unique for each pair. */
export function nameOf({ handler, key }: RecordKey): string {
  return JSON.stringify([handler, key])
}

/** The record that begins at the given column. */
export function recordIn(row: readonly Cell[], from = 0): InboxRecord {
  return {
    state: textIn(row[from]) as RecordState,
    fingerprint: row[from + 1] ?? undefined,
    processedAt: dateIn(row[from + 2]),
    result: optionalTextIn(row[from + 3]),
  }
}
