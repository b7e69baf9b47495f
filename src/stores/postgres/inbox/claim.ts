import type { ClaimAnswer, ClaimRequest, InboxRecord, RecordKey } from '../../../contracts/index.ts'
import type { Answer, Runner } from '../connection.ts'
import type { Statement } from '../statement.ts'
import { swallowed } from '../transactions/swallowed.ts'
import { bytesArray, type Cell, dateIn, hexOf, textArray } from '../values-as-text.ts'
import { bornMs, bornText } from './born.ts'
import { lookAt } from './find-records.ts'
import type { ClaimStatements, TwoWays } from './inbox-statements.ts'
import { keyArrays, nameOf } from './record-rows.ts'

export interface Claimed {
  readonly existing: ClaimAnswer['existing']
  readonly tooOld: ClaimAnswer['tooOld']
  /** Set if the statements return it. */
  readonly epoch: Cell | undefined
}

export interface ClaimParts {
  readonly claim: ClaimStatements
  readonly look: TwoWays
  readonly horizon: Statement
  readonly habit: ClaimHabit
}

/** What the last claim was like, as a guess for the next one. */
export interface ClaimHabit {
  /** Most keys already had records, so it is cheaper to look before claiming. */
  mostlyKnown: boolean
}

/** A record can vanish between the two statements, but hardly this often. */
const mostTurns = 20

/**
 * Claims and looks alternately, because a statement that waited for another transaction does not see its record, but the
 * next statement does. A key that neither finds is too old, or its record was removed in between and is claimed again.
 */
export async function claimAll(
  runner: Runner,
  { look, claim, horizon, habit }: ClaimParts,
  requests: readonly ClaimRequest[],
): Promise<Claimed> {
  const existing: (InboxRecord | undefined)[] = requests.map(() => undefined)
  const tooOld = new Set<number>()
  let open = requests.map((_, index) => index)
  let epoch: Cell | undefined
  let looks = habit.mostlyKnown
  for (let turn = 1; turn <= mostTurns && open.length > 0; turn++) {
    const wanted = open.map((index) => requests[index] as ClaimRequest)
    if (looks) {
      const found = await lookAt(runner, look, wanted)
      for (const [place, index] of open.entries()) existing[index] = found[place]
      open = open.filter((index) => existing[index] === undefined)
      if (turn > 1 && open.some((index) => requests[index]?.born !== undefined)) {
        const oldest = await readHorizon(runner, horizon)
        for (const index of open) if (isBefore(requests[index]?.born, oldest)) tooOld.add(index)
        open = open.filter((index) => !tooOld.has(index))
      }
    } else {
      const { rows, count } = await insert(runner, claim, wanted)
      open = count === open.length ? [] : open.filter(isNotAmong(rows, requests))
      epoch ??= rows[0]?.[2]
    }
    looks = !looks
  }
  if (open.length > 0)
    throw swallowed(`${open.length} claims could neither be made nor found, ${mostTurns} times in a row`)
  habit.mostlyKnown = existing.filter((record) => record !== undefined).length > existing.length / 2
  return { existing, tooOld: tooOld.size === 0 ? undefined : tooOld, epoch }
}

function isNotAmong(rows: Answer['rows'], requests: readonly ClaimRequest[]): (index: number) => boolean {
  const ours = new Set(rows.map(([handler, key]) => nameOf(handler, key)))
  return (index) => !ours.has(named(requests[index]))
}

function isBefore(born: Date | undefined, horizon: Date | undefined): boolean {
  return born !== undefined && horizon !== undefined && bornMs(born) < horizon.getTime()
}

/** The current horizon, and so not below what the previous claim saw. */
async function readHorizon(runner: Runner, horizon: Statement): Promise<Date | undefined> {
  const { rows } = await runner.run(horizon, [])
  const cell = rows[0]?.[0] ?? undefined
  return cell === undefined ? undefined : dateIn(cell)
}

function insert(runner: Runner, claim: ClaimStatements, requests: readonly ClaimRequest[]): Promise<Answer> {
  const isBorn = requests.some(({ born }) => born !== undefined)
  const [first, ...more] = requests
  if (first !== undefined && more.length === 0) {
    const { handler, key, fingerprint, born } = first
    const values = [handler, key, fingerprint === undefined ? null : `\\x${hexOf(fingerprint)}`]
    return isBorn ? runner.run(claim.oneBorn, [...values, bornText(born)]) : runner.run(claim.one, values)
  }
  const values = [...keyArrays(requests), bytesArray(requests.map((each) => each.fingerprint))]
  if (!isBorn) return runner.run(claim.many, values)
  return runner.run(claim.manyBorn, [...values, textArray(requests.map(({ born }) => bornText(born)))])
}

function named(request: RecordKey | undefined): string {
  return nameOf(request?.handler, request?.key)
}
