import { randomBytes } from 'node:crypto'
import type { ClaimRequest, InboxRecord, RecordKey, RecordState } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { changedSinceSnapshot, duplicateKey, errorNumber } from './errors.ts'
import { bytes, type Cell, dateIn, integer, nowMs, optionalTextIn, textIn } from './literals-and-cells.ts'
import type { Claims } from './provisional.ts'
import type { Runner } from './runner.ts'
import { foundByKey, handlerValue, inGroups, keyValue } from './statement-parts.ts'
import type { Tables } from './tables.ts'

/** What the last claim was like, as a guess for the next one. */
export interface ClaimHabit {
  /** Most keys already had records, so it is cheaper to look before claiming. */
  mostlyKnown: boolean
}

export interface Claimed {
  readonly existing: readonly (InboxRecord | undefined)[]
  readonly tooOld: ReadonlySet<number>
  /** The token that marks the rows of this claim. */
  readonly token: string
}

export interface ClaimOptions {
  readonly requests: readonly ClaimRequest[]
  readonly horizonMs: number | undefined
  readonly habit: ClaimHabit
  /** The earlier claims of the same transaction. */
  readonly before: readonly Claims[]
}

/** A record can vanish between the two statements, but hardly this often. */
const mostTurns = 20

/**
 * Claims by a plain INSERT. If that reports a duplicate, looks up which records exist and claims the rest. A successful
 * INSERT proves that every row is ours, without a look; a failed one leaves nothing behind. `INSERT IGNORE` would truncate
 * keys, and ON DUPLICATE KEY UPDATE would lock every duplicate against other transactions.
 */
export async function claimAll(
  runner: Runner,
  { inbox }: Tables,
  { requests, horizonMs, habit, before }: ClaimOptions,
): Promise<Claimed> {
  const own = new Set(before.map((claims) => claims.token))
  const existing: (InboxRecord | undefined)[] = requests.map(() => undefined)
  const old = requests.flatMap(({ born }, place) => (isBefore(born, horizonMs) ? [place] : []))
  const tooOld = new Set(old)
  let open = requests.map((_, place) => place)
  const token = tokenIn(randomBytes(8))
  let looks = habit.mostlyKnown || old.length > 0
  for (let turn = 1; open.length > 0; turn++) {
    if (turn > mostTurns) throw new Error(`${open.length} claims could neither be made nor found, ${mostTurns} times.`)
    if (looks) {
      const { records, abandoned } = await look(
        runner,
        inbox,
        open.map((place) => requests[place] as ClaimRequest),
        { locked: turn > 2, own },
      )
      await removeAbandoned(runner, inbox, [...abandoned.values()])
      for (const place of open) {
        const name = nameOf(requests[place] as ClaimRequest)
        existing[place] = records.get(name)
        if (records.has(name) || abandoned.has(name)) tooOld.delete(place)
      }
      open = open.filter((place) => existing[place] === undefined && !tooOld.has(place))
    } else if (
      await insert(
        runner,
        { inbox, token },
        open.map((place) => requests[place] as ClaimRequest),
      )
    )
      open = []
    looks = !looks
  }
  habit.mostlyKnown = existing.filter((record) => record !== undefined).length > existing.length / 2
  return { existing, tooOld, token }
}

function tokenIn(cell: Cell | undefined): string {
  return bytes(cell ?? undefined)
}

function isBefore(born: Date | undefined, horizonMs: number | undefined): boolean {
  return born !== undefined && horizonMs !== undefined && born.getTime() < horizonMs
}

/** `true` if all of them are ours now; otherwise none of them is. */
async function insert(
  runner: Runner,
  { inbox, token }: { readonly inbox: string; readonly token: string },
  requests: readonly ClaimRequest[],
): Promise<boolean> {
  const rows = requests.map(
    ({ handler, key, born, fingerprint }) =>
      `(${handlerValue(handler)}, ${keyValue(key)}, ${integer(born?.getTime())}, ${bytes(fingerprint)}, ${nowMs}, ${token})`,
  )
  const columns = '(handler, `key`, born, fingerprint, processed_at, token)'
  try {
    await runner.run(`INSERT INTO ${inbox} ${columns} VALUES ${rows.join(', ')}`)
    return true
  } catch (error) {
    if (errorNumber(error) === duplicateKey) return false
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
