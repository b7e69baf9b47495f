import type { ClaimAnswer, ClaimRequest, InboxRecord, RecordKey } from '../../contracts/index.ts'
import { bytesArray, type Cell, dateIn, hexOf, textArray, textIn } from './cells.ts'
import type { Answer, Runner } from './connection.ts'
import type { ClaimStatements } from './inbox-statements.ts'
import type { Statement } from './statement.ts'

export interface Claimed {
  readonly existing: ClaimAnswer['existing']
  /** Where the statements answer with it. */
  readonly epoch: Cell | undefined
}

/** A record can vanish between the two statements, but hardly this often. */
const mostTurns = 10

/**
 * Claims in two steps, because a statement that has waited for a rival does not see the rival's record, but the next
 * one does. What neither step finds has been forgotten in between and is claimed again.
 */
export async function claimAll(
  runner: Runner,
  look: Statement,
  claim: ClaimStatements,
  requests: readonly ClaimRequest[],
): Promise<Claimed> {
  const existing: (InboxRecord | undefined)[] = requests.map(() => undefined)
  let missing = requests.map((_, index) => index)
  for (let turn = 1; turn <= mostTurns; turn++) {
    const wanted = missing.map((index) => requests[index] as ClaimRequest)
    const ours = await insert(runner, claim, wanted)
    if (ours.count === wanted.length) return { existing, epoch: ours.rows[0]?.[2] }

    const claimed = new Set(ours.rows.map(([handler, key]) => nameOf(handler, key)))
    missing = missing.filter((index) => !claimed.has(named(requests[index])))
    const known = await runner.run(look, keyArrays(missing.map((index) => requests[index] as ClaimRequest)))
    const records = new Map(known.rows.map((row) => [nameOf(row[0], row[1]), recordIn(row.slice(3))]))
    for (const index of missing) existing[index] = records.get(named(requests[index]))
    missing = missing.filter((index) => existing[index] === undefined)
    if (missing.length === 0) return { existing, epoch: known.rows[0]?.[2] }
  }
  throw new Error(`${missing.length} claims could neither be made nor found, ${mostTurns} times in a row.`)
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

export function recordIn([state, fingerprint, processedAt, result]: readonly Cell[]): InboxRecord {
  return {
    state: state === 'p' ? 'parked' : 'processed',
    fingerprint: fingerprint === null ? undefined : Buffer.from(textIn(fingerprint), 'hex'),
    processedAt: dateIn(processedAt),
    result: result ?? undefined,
  }
}

/** No two pairs have the same: a handler name has no NUL in it, or Postgres would not have taken it. */
function nameOf(handler: Cell | undefined, key: Cell | undefined): string {
  return `${handler}\0${key}`
}

function named(request: RecordKey | undefined): string {
  return nameOf(request?.handler, request?.key)
}
