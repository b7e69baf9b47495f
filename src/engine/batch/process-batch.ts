import type { Delivery, LastWrites, PositionMove, PublishedMessage } from '../../contracts/index.ts'
import { isJustonceError } from '../../errors/index.ts'
import { runInParts, runTogether } from '../calls/run-in-parts.ts'
import type { Engine } from '../engine.ts'
import type { Feed } from '../feed.ts'
import type { ClaimedIntents } from '../intending/store-intents.ts'
import { isThenable } from '../is-thenable.ts'
import type { Outcomes, Refusal, Run, RunOutcome, Work } from '../items.ts'
import { KeyOrder } from '../order/key-order.ts'
import { movePositions } from '../positions/move-positions.ts'
import { judgedRefusal } from '../retries/parked-rows.ts'
import { beginAttempts } from '../retries/reservation.ts'
import { takeLetters } from '../retries/take-letters.ts'
import { gatherBookkeeping, hadEffect, isHandled, writeBookkeeping } from './bookkeeping.ts'
import { claimRuns } from './claim.ts'
import { planExecutions } from './executions.ts'
import { uncounted } from './may-run.ts'
import { RolledBack } from './rolled-back.ts'

/** The work of one transaction. */
export interface Batch<Tx> {
  readonly works: readonly Work<Tx>[]
  /** Messages that no handler can take. They become dead letters. */
  readonly refusals: readonly Refusal[]
  /** Deliveries that only need to be settled. */
  readonly known: readonly Delivery[]
  /** The outcomes of other runs of the same messages, if a message is handled in several transactions. */
  readonly earlier: Outcomes
  /** Those of these runs that have left a record. */
  readonly earlierRuns?: readonly Run<Tx>[]
  /** False while more transactions of the same messages follow. */
  readonly settles: boolean
  /** How many calls share a part. If infinite, all calls share the bare transaction, and one failure rolls it back. */
  readonly partSize: number
  /** Whether a commit was refused because of an error that an unknown handler swallowed. */
  readonly looksBack?: boolean
  readonly lockTimeoutMs: number
  /** Whether its attempts have been counted as begun, because its handlers were called before. */
  readonly hasBegun?: boolean
  /** If positions are kept in the store: the moves that make all of this count as handled. */
  readonly moves?: readonly PositionMove[]
}

/** What one committed transaction did. */
export interface Committed<Tx> {
  readonly batch: Batch<Tx>
  readonly runs: readonly Run<Tx>[]
  readonly outcomes: Outcomes
  readonly epoch: string | undefined
  /** Deliveries that the broker may forget. */
  readonly done: readonly Delivery[]
  readonly published: readonly PublishedMessage[]
  readonly intended: ClaimedIntents
  /** Deliveries that do not begin at the position in the store. */
  readonly lost: readonly Delivery[]
  /** How long everything but the calls of the handlers took. */
  readonly overheadMs: number
}

/**
 * The heart: the promise is kept here. Claims, effects, outgoing messages and the outcome of each message commit in one
 * transaction or not at all, and nothing is acknowledged before this has resolved.
 * If it rejects, everything has been rolled back; next-step.ts decides what to do then.
 */
export async function processBatch<Tx>(engine: Engine<Tx>, feed: Feed, given: Batch<Tx>): Promise<Committed<Tx>> {
  const { clock, store } = engine
  const begunAt = clock.monotonicMs()
  let callsMs = 0
  const runs = given.works.flatMap((work) => work.runs)
  const executions = planExecutions(given.works)

  const begun = beginAttempts(engine, given)
  if (begun !== undefined) await begun
  const committed = await inTransaction(engine, given.lockTimeoutMs, async (tx, lastWrites) => {
    const outcomes: Outcomes = [...given.earlier]

    // This must come first: another process must wait for these positions, rows and keys before it can cause any effect.
    // What most batches do not need is not awaited: for a lone message each wait costs as much as the step itself.
    const moved = movePositions(engine, feed, tx, given, outcomes)
    const { batch, lost } = isThenable(moved) ? await moved : moved
    const taken = takeLetters(engine, tx, batch, outcomes)
    const ours = isThenable(taken) ? await taken : taken
    const judged = { ...batch, refusals: ours.map((refusal) => judgedRefusal(engine, refusal)) }
    const epoch = await claimRuns(engine, tx, runs, outcomes, given.earlierRuns)
    const inOrder = executions.flatMap((execution) => execution.runs)
    const locked = KeyOrder.lock(engine, tx, inOrder)
    const permits = {
      order: isThenable(locked) ? await locked : locked,
      timeIsUp: overrun(engine, batch),
      wentWell: new Set<string>(),
      movesPositions: batch.moves !== undefined,
    }

    // Waiting for the turn is no overhead of this batch: it is the time that the calls of others take.
    const calledAt = clock.monotonicMs()
    const called = feed.turn === undefined ? undefined : await feed.turn()
    try {
      const { parts } = store
      if (parts === undefined || batch.partSize === Number.POSITIVE_INFINITY) {
        await runTogether(engine, tx, executions, outcomes, permits)
      } else {
        const { partSize: size, looksBack = false } = batch
        const inParts = { parts, size, looksBack, inCompany: companyRule(engine, batch) }
        await runInParts(engine, inParts, tx, executions, outcomes, permits)
        if (batch.moves !== undefined) refuseToLeaveOut(runs, outcomes)
      }
    } finally {
      called?.()
    }
    callsMs = clock.monotonicMs() - calledAt
    permits.order.keepBehind(outcomes)

    // Failures, results and outgoing messages are written in the transaction of the effects, so that they share its fate.
    const books = gatherBookkeeping(engine, judged, outcomes, inOrder)
    const done = doneDeliveries(batch, outcomes)
    const blame = (error: unknown) => withItsFailure(engine, runs, outcomes, error)
    const intended = await writeBookkeeping(engine, feed, { tx, lastWrites, blame }, books, {
      done,
      effective: effectiveDeliveries(batch, outcomes),
    })
    return { batch: judged, runs, outcomes, epoch, done, published: books.outgoing, intended, lost }
  })
  return { ...committed, overheadMs: clock.monotonicMs() - begunAt - callsMs }
}

/**
 * A run that fails alongside others may have met what one of them left behind, so it is left out and runs again alone. If a
 * position moves with all handlers of one message, none can be left out: its parked row then gives it that run, which does
 * not count as an attempt.
 */
function companyRule<Tx>(
  engine: Engine<Tx>,
  { moves, works }: Batch<Tx>,
): (run: Run<Tx>, error: unknown) => RunOutcome {
  if (moves !== undefined && works.length === 1) return (run, error) => uncounted(engine, run, error)
  return (_, error) => ({ kind: 'apart', error })
}

/** Positions move past the whole batch, so a message that must run alone has to be removed from the batch first. */
function refuseToLeaveOut<Tx>(runs: readonly Run<Tx>[], outcomes: Outcomes): void {
  const apart = runs.filter(({ index }) => outcomes[index]?.kind === 'apart')
  const first = outcomes.find((outcome) => outcome?.kind === 'apart')
  if (first === undefined) return
  throw Object.assign(new RolledBack('failure', first.error, apart), { areEach: true })
}

/** If a handler's failure cannot be written, the error to report is still the handler's. */
function withItsFailure<Tx>({ store }: Engine<Tx>, runs: readonly Run<Tx>[], outcomes: Outcomes, error: unknown) {
  if (error instanceof RolledBack || store.classify(error) !== 'none' || isJustonceError(error, 'DELIVERY_GONE'))
    return error
  const failed = runs.find(({ index, failure }) => failure === undefined && outcomes[index]?.kind === 'failed')
  const outcome = failed && outcomes[failed.index]
  return outcome?.kind === 'failed' ? new RolledBack('failure', outcome.error, [failed as Run<Tx>]) : error
}

export function inTransaction<Tx, T>(
  engine: Engine<Tx>,
  lockTimeoutMs: number,
  work: (tx: Tx, lastWrites?: LastWrites) => Promise<T>,
): Promise<T> {
  const { idleTimeoutMs, statementTimeoutMs } = engine.timing
  return engine.store.transaction(work, { lockTimeoutMs, idleTimeoutMs, statementTimeoutMs, isCutOff })
}

function isCutOff(error: unknown): boolean {
  return error instanceof RolledBack && error.reason === 'culprit'
}

/**
 * A batch that takes far longer than planned holds its locks for too long, so it commits what it has and leaves the
 * rest. Its time starts with its first handler, so that at least one always runs: otherwise a slow claim could use up
 * the time of every batch.
 */
function overrun<Tx>(engine: Engine<Tx>, batch: Batch<Tx>): () => boolean {
  // With positions all of it is handled, because the rest of a partition cannot be skipped.
  if (batch.works.length === 1 || batch.moves !== undefined) return () => false
  let endsAt: number | undefined
  return () => {
    const now = engine.clock.monotonicMs()
    endsAt ??= now + engine.timing.overrunMs
    return now > endsAt
  }
}

export function doneDeliveries<Tx>(batch: Batch<Tx>, outcomes: Outcomes): readonly Delivery[] {
  if (!batch.settles) return []
  const done = [...batch.known]
  for (const work of batch.works)
    if (work.origin.letter === undefined && isHandled(work, outcomes)) done.push(work.delivery)
  for (const { letter, delivery } of batch.refusals) if (letter === undefined) done.push(delivery)
  return done
}

/** Deliveries for which something was written. If one of them is no longer in its queue, nothing of the transaction may stand. */
export function effectiveDeliveries<Tx>({ works, refusals }: Batch<Tx>, outcomes: Outcomes): readonly Delivery[] {
  const effective = refusals.map(({ delivery }) => delivery)
  for (const { runs, delivery } of works)
    if (runs.some(({ index }) => hadEffect(outcomes[index]))) effective.push(delivery)
  return effective
}
