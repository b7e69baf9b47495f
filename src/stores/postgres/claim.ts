import type { ClaimAnswer, ClaimRequest, InboxRecord, RecordKey, RecordState } from '../../contracts/index.ts'
import { bytesArray, type Cell, dateIn, hexOf, textArray, textIn } from './cells.ts'
import type { Answer, Runner } from './connection.ts'
import type { ClaimStatements } from './inbox-statements.ts'
import type { Statement } from './statement.ts'

export interface Claimed {
  readonly existing: ClaimAnswer['existing']
  /** Where the statements answer with it. */
  readonly epoch: Cell | undefined
}

/** What the last claim was like, to guess what the next will be like. */
export interface ClaimHabit {
  /** Most keys were there already: then it is cheaper to look before claiming. */
  mostlyKnown: boolean
}

/** A record can vanish between the two statements, but hardly this often. */
const mostTurns = 20

/**
 * Claims and looks in turn, because a statement that has waited for a rival does not see the rival's record, but the
 * next one does. What neither finds has been forgotten in between and is claimed again.
 */
export async function claimAll(
  runner: Runner,
  { look, claim, habit }: { readonly look: Statement; readonly claim: ClaimStatements; readonly habit: ClaimHabit },
  requests: readonly ClaimRequest[],
): Promise<Claimed> {
  const existing: (InboxRecord | undefined)[] = requests.map(() => undefined)
  let open = requests.map((_, index) => index)
  let epoch: Cell | undefined
  let looks = habit.mostlyKnown
  for (let turn = 1; turn <= mostTurns && open.length > 0; turn++) {
    const wanted = open.map((index) => requests[index] as ClaimRequest)
    if (looks) {
      const { rows } = await runner.run(look, keyArrays(wanted))
      for (const row of rows) existing[open[Number(row[0]) - 1] as number] = recordIn(row, 1)
      open = open.filter((index) => existing[index] === undefined)
    } else {
      const { rows, count } = await insert(runner, claim, wanted)
      const ours = new Set(rows.map(([handler, key]) => nameOf(handler, key)))
      open = count === open.length ? [] : open.filter((index) => !ours.has(named(requests[index])))
      epoch ??= rows[0]?.[2]
    }
    looks = !looks
  }
  if (open.length > 0)
    throw new Error(`${open.length} claims could neither be made nor found, ${mostTurns} times in a row.`)
  habit.mostlyKnown = existing.filter((record) => record !== undefined).length > existing.length / 2
  return { existing, epoch }
}

function insert(runner: Runner, claim: ClaimStatements, requests: readonly ClaimRequest[]): Promise<Answer> {
  const [first, ...more] = requests
  if (first !== undefined && more.length === 0) {
    const { handler, key, fingerprint } = first
    return runner.run(claim.one, [handler, key, fingerprint === undefined ? null : `\\x${hexOf(fingerprint)}`])
  }
  return runner.run(claim.many, [...keyArrays(requests), bytesArray(requests.map((each) => each.fingerprint))])
}

export function keyArrays(keys: readonly RecordKey[]): [string, string] {
  return [textArray(keys.map(({ handler }) => handler)), textArray(keys.map(({ key }) => key))]
}

export const stateCodes = { processed: 'd', parked: 'p', expired: 'e', discarded: 'x' } as const

const stateOf = new Map<Cell | undefined, RecordState>(
  Object.entries(stateCodes).map(([state, code]) => [code, state as RecordState]),
)

/** The record that begins at the given column. */
export function recordIn(row: readonly Cell[], from = 0): InboxRecord {
  const fingerprint = row[from + 1]
  return {
    state: stateOf.get(row[from]) ?? 'processed',
    fingerprint: fingerprint === null ? undefined : Buffer.from(textIn(fingerprint), 'hex'),
    processedAt: dateIn(row[from + 2]),
    result: row[from + 3] ?? undefined,
  }
}

/** No two pairs have the same: a handler name has no NUL in it, or Postgres would not have taken it. */
function nameOf(handler: Cell | undefined, key: Cell | undefined): string {
  return `${handler}\0${key}`
}

function named(request: RecordKey | undefined): string {
  return nameOf(request?.handler, request?.key)
}
