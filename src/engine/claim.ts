import type { ClaimAnswer, ClaimRequest, InboxRecord } from '../contracts/index.ts'
import { sameFingerprint } from '../encoding/fingerprint.ts'
import { JustonceError } from '../errors/index.ts'
import type { Engine } from './engine.ts'
import { failedOutcome } from './may-run.ts'
import { Undone } from './undone.ts'
import { isUnborn, type Outcomes, type Run, type RunOutcome } from './work.ts'

/** Claims every run of a batch before any of them starts, and sorts out those that must not start. */
export async function claimRuns<Tx>(
  engine: Engine<Tx>,
  tx: Tx,
  runs: readonly Run<Tx>[],
  outcomes: Outcomes<Tx>,
): Promise<string | undefined> {
  const claimable = runs.filter((run) => outcomes.get(run)?.kind !== 'elsewhere')
  const requests = claimRequests(claimable, engine.timeless)
  if (requests.length === 0) {
    leaveForLater(runs, outcomes)
    return undefined
  }
  const { epoch, existing, tooOld } = await claim(engine, tx, requests)
  engine.recent.sawEpoch(epoch)
  requests.forEach(({ run }, index) => {
    const record = existing[index]
    if (tooOld?.has(index) && !outcomes.has(run)) outcomes.set(run, tooOldOutcome(engine, run))
    if (record !== undefined && !isParked(outcomes.get(run))) outcomes.set(run, outcomeOf(run, record))
  })
  leaveForLater(runs, outcomes)
  return epoch
}

function leaveForLater<Tx>(runs: readonly Run<Tx>[], outcomes: Outcomes<Tx>): void {
  for (const run of runs) {
    const { failure, expired } = run
    if (run.handler.delivery === 'at-most-once' && !failure && !expired && !outcomes.has(run))
      outcomes.set(run, { kind: 'after-ack' })
  }
}

async function claim<Tx>(engine: Engine<Tx>, tx: Tx, requests: readonly ClaimRequest[]): Promise<ClaimAnswer> {
  try {
    return await engine.store.inbox.claim(tx, requests)
  } catch (error) {
    throw engine.store.classify(error) === 'conflict' ? new Undone('held', error) : error
  }
}

/**
 * One request for each name of each handler: while a renamed handler's old processes are still running, both have to
 * wait for the same records. Sorted, so that two batches never wait for each other's claims in a circle.
 */
export function claimRequests<Tx>(
  runs: readonly Run<Tx>[],
  timeless: ReadonlySet<string> = new Set(),
): (ClaimRequest & { run: Run<Tx> })[] {
  const requests: (ClaimRequest & { run: Run<Tx> })[] = []
  for (const run of runs) {
    if (!isRecorded(run) || run.owner !== undefined || isUnborn(run)) continue
    const { handler, key, fingerprint } = run
    for (const name of [handler.name, ...handler.formerly]) {
      const born = timeless.has(name) ? undefined : run.born
      const willNotRun = run.failure === undefined ? undefined : true
      requests.push({ handler: name, key, fingerprint, born, willNotRun, run })
    }
  }
  return requests.sort((a, b) => compare(a.handler, b.handler) || compare(a.key, b.key))
}

/** There may have been a record: to run it could be to run it again. */
function tooOldOutcome<Tx>(engine: Engine<Tx>, run: Run<Tx>): RunOutcome {
  if (engine.tooOld === 'skip') return { kind: 'expired' }
  const message = `The message ${run.key} was made at ${run.born?.toISOString()}; records of that time are no longer kept.`
  return failedOutcome(engine, run, new JustonceError('TOO_OLD_TO_KNOW', { message }))
}

/** At-least-once handlers pay nothing: they have no record. Nor have messages that are known by their position. */
export function isRecorded<Tx>(run: Run<Tx>): boolean {
  return run.handler.delivery !== 'at-least-once' && run.work.origin.byPosition !== true
}

function outcomeOf<Tx>(run: Run<Tx>, record: InboxRecord): RunOutcome {
  if (!sameFingerprint(record.fingerprint, run.fingerprint)) return { kind: 'conflict', record }
  return record.state === 'parked' ? { kind: 'parked' } : { kind: 'duplicate', record }
}

function isParked(outcome: RunOutcome | undefined): boolean {
  return outcome?.kind === 'parked'
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
