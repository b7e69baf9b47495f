import type { ClaimAnswer, ClaimRequest, InboxRecord } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import type { Engine } from '../engine.ts'
import { isOfSameContent } from '../intake/same-content.ts'
import { isUnborn, type Outcomes, type Run, type RunOutcome, unclaimedLetter } from '../items.ts'
import { failedOutcome } from './may-run.ts'
import { Undone } from './undone.ts'

/** Claims every run of a batch before any of them starts, and sorts out those that must not start. */
export async function claimRuns<Tx>(
  engine: Engine<Tx>,
  tx: Tx,
  runs: readonly Run<Tx>[],
  outcomes: Outcomes,
): Promise<string | undefined> {
  // Decided are those whose row or position somebody else has: whether they have a record is not for us to say.
  const undecided = runs.filter((run) => outcomes[run.index] === undefined)
  const requests = claimRequests(undecided, engine.timeless)
  if (requests.length === 0) return undefined
  const { epoch, existing, tooOld } = await claim(engine, tx, requests)
  engine.recent.sawEpoch(epoch)
  requests.forEach(({ run }, index) => {
    const record = existing[index]
    if (tooOld?.has(index) && outcomes[run.index] === undefined) outcomes[run.index] = tooOldOutcome(engine, run)
    if (record === undefined || isParked(outcomes[run.index])) return
    outcomes[run.index] = outcomeOf(run, record)
  })
  const needless = requests.filter(
    ({ run }, index) => existing[index] === undefined && !tooOld?.has(index) && !agrees(outcomes[run.index]),
  )
  if (needless.length > 0)
    await engine.store.inbox.update(
      tx,
      needless.map(({ handler, key, born }) => ({ handler, key, born, state: 'unclaimed' })),
    )
  return epoch
}

/**
 * A claim counts as processed unless something else is said of it. Where the claim under another name of the handler has
 * shown that it is parked, given up, too old or another message's, that other record is the one to go by.
 */
function agrees(outcome: RunOutcome | undefined): boolean {
  return outcome === undefined || (outcome.kind === 'duplicate' && outcome.record.state === 'processed')
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
    requests.push(requestOf(run, run.handler.name, timeless))
    for (const name of run.handler.formerly) requests.push(requestOf(run, name, timeless))
  }
  return requests.sort((a, b) => compare(a.handler, b.handler) || compare(a.key, b.key))
}

function requestOf<Tx>(run: Run<Tx>, handler: string, timeless: ReadonlySet<string>): ClaimRequest & { run: Run<Tx> } {
  const { key, fingerprint, failure } = run
  const born = timeless.has(handler) ? undefined : run.born
  return { handler, key, fingerprint, born, willNotRun: failure === undefined ? undefined : true, run }
}

/** There may have been a record: to run it could be to run it again. What is parked already is not skipped. */
function tooOldOutcome<Tx>(engine: Engine<Tx>, run: Run<Tx>): RunOutcome {
  if (engine.tooOld === 'skip' && unclaimedLetter(run) === undefined) return { kind: 'expired', unclaimed: true }
  const message = `The message ${run.key} was made at ${run.born?.toISOString()}; records of that time are no longer kept.`
  return failedOutcome(engine, run, new JustonceError('TOO_OLD_TO_KNOW', { message }))
}

/** At-least-once handlers pay nothing: they have no record. Nor have messages that are known by their position. */
export function isRecorded<Tx>(run: Run<Tx>): boolean {
  return run.handler.delivery !== 'at-least-once' && run.mark === undefined
}

function outcomeOf<Tx>(run: Run<Tx>, record: InboxRecord): RunOutcome {
  if (!isOfSameContent(record, run)) return { kind: 'conflict', record }
  if (record.state !== 'parked') return { kind: 'duplicate', record }
  // Parked since we looked for copies: the next look finds out which of the rows has to go.
  return unclaimedLetter(run) === undefined ? { kind: 'parked' } : { kind: 'unstarted', unclaimed: true }
}

/** Its parked row has it, whatever the records under other names of its handler say. */
function isParked(outcome: RunOutcome | undefined): boolean {
  return outcome?.kind === 'parked' || outcome?.kind === 'unstarted'
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
