import type { ClaimAnswer, ClaimRequest, InboxRecord } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import type { Engine } from '../engine.ts'
import { isOfSameContent } from '../intake/same-content.ts'
import { isUnborn, type Outcomes, type Run, type RunOutcome, unclaimedLetter } from '../items.ts'
import { failedOutcome } from './may-run.ts'
import { RolledBack } from './rolled-back.ts'

/**
 * Claims every run of a batch before any of them starts, and decides which runs must not start. `earlier`: runs of the same message
 * that other transactions have decided. Their records must still be there: if the database was restored since, or has lost commits,
 * the message would leave its queue without their effects. Then it is handled from the beginning.
 */
export async function claimRuns<Tx>(
  engine: Engine<Tx>,
  tx: Tx,
  runs: readonly Run<Tx>[],
  outcomes: Outcomes,
  earlier: readonly Run<Tx>[] = [],
): Promise<string | undefined> {
  // Runs with an outcome are those whose row or position another process holds. We cannot say whether they have a record.
  const undecided = runs.filter((run) => outcomes[run.index] === undefined)
  const requests = claimRequests(earlier.length === 0 ? undecided : [...undecided, ...earlier], engine.timeless)
  if (requests.length === 0) return undefined
  let answer: ClaimAnswer
  try {
    answer = await engine.store.inbox.claim(tx, requests)
  } catch (error) {
    throw engine.store.classify(error) === 'conflict' ? new RolledBack('held', error) : error
  }
  const { epoch, existing, tooOld } = answer
  engine.recent.sawEpoch(epoch)
  const others = new Set(earlier)
  const isKnown = (index: number): boolean => existing[index] !== undefined || tooOld?.has(index) === true
  const known = new Set(requests.filter((_, index) => isKnown(index)).map(({ run }) => run))
  if (requests.some(({ run }) => others.has(run) && !known.has(run))) throw new RolledBack('held', forgotten())
  requests.forEach(({ run }, index) => {
    const record = existing[index]
    if (others.has(run)) return
    if (tooOld?.has(index) && outcomes[run.index] === undefined) outcomes[run.index] = tooOldOutcome(engine, run)
    if (record === undefined || isParked(outcomes[run.index])) return
    outcomes[run.index] = outcomeOf(run, record)
  })
  const needless = requests.filter(
    ({ run }, index) => !isKnown(index) && (others.has(run) || !agrees(outcomes[run.index])),
  )
  if (needless.length > 0)
    await engine.store.inbox.update(
      tx,
      needless.map(({ handler, key, born }) => ({ handler, key, born, state: 'unclaimed' })),
    )
  return epoch
}

function forgotten(): JustonceError {
  const message =
    'The database no longer knows what other handlers of the message have done: it was restored, or has lost commits.'
  return new JustonceError('DELIVERY_GONE', { message })
}

/**
 * A claim counts as processed unless the record under another name of the handler says otherwise: parked, given up, too
 * old, or of other content. That other record then decides.
 */
function agrees(outcome: RunOutcome | undefined): boolean {
  return outcome === undefined || (outcome.kind === 'duplicate' && outcome.record.state === 'processed')
}

/**
 * One request for each name of each handler: while old processes of a renamed handler are still running, both versions
 * must wait for the same records. Sorted, so that two batches cannot deadlock on each other's claims.
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

/** A record may have existed, so running the message could run it twice. A message that is already parked is not skipped. */
function tooOldOutcome<Tx>(engine: Engine<Tx>, run: Run<Tx>): RunOutcome {
  if (engine.tooOld === 'skip' && unclaimedLetter(run) === undefined) return { kind: 'expired', unclaimed: true }
  const message = `The message ${run.key} was made at ${run.born?.toISOString()}; records of that time are no longer kept.`
  return failedOutcome(engine, run, new JustonceError('TOO_OLD_TO_KNOW', { message }))
}

/** At-least-once handlers have no record and pay nothing. Messages that are known by their position have no record either. */
export function isRecorded<Tx>(run: Run<Tx>): boolean {
  return run.handler.delivery !== 'at-least-once' && run.mark === undefined
}

function outcomeOf<Tx>(run: Run<Tx>, record: InboxRecord): RunOutcome {
  if (!isOfSameContent(record, run)) return { kind: 'key-reused', record }
  if (record.state !== 'parked') return { kind: 'duplicate', record }
  // Parked after we looked for copies: the next look decides which of the rows must go.
  return unclaimedLetter(run) === undefined ? { kind: 'parked' } : { kind: 'unstarted', unclaimed: true }
}

/** The parked row owns the message, whatever the records under other names of its handler say. */
function isParked(outcome: RunOutcome | undefined): boolean {
  return outcome?.kind === 'parked' || outcome?.kind === 'unstarted'
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
