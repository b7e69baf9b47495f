import type { Delivery, JustonceEvent, LastWrites } from '../../contracts/index.ts'
import { unrouted } from '../../encoding/unrouted.ts'
import type { BatchResult } from '../batch-result.ts'
import { runTogether } from '../calls/run-in-parts.ts'
import type { Engine } from '../engine.ts'
import type { Feed } from '../feed.ts'
import { intentsCommitted } from '../intending/intents-committed.ts'
import { noIntents } from '../intending/store-intents.ts'
import { isGoodEnd, type Outcomes, type Run, type RunOutcome, type RunProducts, rowKeyOf } from '../items.ts'
import { noOrder, orderKeyOf } from '../order/key-order.ts'
import { failedKeyOf, keyReused, refusedKey, waitsFor } from '../retries/parked-rows.ts'
import { gatherBookkeeping, isNothing, writeBookkeeping } from './bookkeeping.ts'
import { isRecorded } from './claim.ts'
import { duplicateEvent } from './duplicate-event.ts'
import { tellHints } from './hinted.ts'
import { type Committed, inTransaction } from './process-batch.ts'
import { unwrapped } from './rolled-back.ts'

const noDeliveries = { done: [], effective: [] }

/** Runs after the commit, and only then: acknowledges the deliveries and notifies everything else. */
export async function afterTheCommit<Tx>(
  engine: Engine<Tx>,
  feed: Feed,
  committed: Committed<Tx>,
): Promise<Pick<BatchResult, 'settled' | 'lost' | 'wentWell' | 'background' | 'overheadMs'>> {
  const { batch, runs, outcomes, epoch, done, published, intended, lost } = committed
  const background: Promise<void>[] = []
  let wentWell = batch.known.length + batch.refusals.length
  if (lost.length > 0) await feed.positions?.reread(lost)
  feed.inside?.forget(done)
  const overheadMs = feed.inside === undefined && done.length > 0 ? await acknowledged(engine, feed, done) : 0
  if (published.length > 0) {
    engine.outlet.committed(published)
    engine.events.emit({ kind: 'published', messages: published.length })
  }
  intentsCommitted(engine, intended)
  for (const refusal of batch.refusals) {
    const { error, letter, verdict = { state: 'dead', attempts: 0 } } = refusal
    engine.events.emit({
      kind: 'parked',
      handler: letter?.handler ?? unrouted,
      key: letter?.key ?? refusedKey(refusal),
      reason: error.code,
      state: verdict.state,
      attempts: verdict.attempts,
      error,
    })
    feed.refused?.(error)
  }
  for (const run of runs) {
    const outcome = outcomes[run.index] as RunOutcome
    const event = eventOf(run, outcome)
    if (event !== undefined) engine.events.emit(event)
    feed.committed?.(run.handler.name, outcome)
    if (isGoodEnd(outcome)) wentWell++
    noteKey(engine, run, outcome)
    if (outcome.kind === 'processed') {
      // Only now: a run that fails at the commit has not succeeded.
      engine.breakers.succeeded(run.handler)
      if (epoch !== undefined && isRecorded(run))
        engine.recent.remember({ handler: run.handler.name, key: run.key }, run.fingerprint, epoch)
      background.push(...startHooks(engine, run, outcome.products))
    }
  }
  tellHints(engine, committed)
  for (const run of runs)
    if (outcomes[run.index]?.kind === 'after-ack') background.push(...(await runAfterAck(engine, feed, run)))
  return { settled: [...lost, ...done], lost: [...lost], wentWell, background, overheadMs }
}

/** Acknowledges the deliveries. How long that takes says nothing about their handlers: it is about the same for one as for many. */
export async function acknowledged<Tx>(
  { clock }: Engine<Tx>,
  feed: Feed,
  deliveries: readonly Delivery[],
): Promise<number> {
  const begunAt = clock.monotonicMs()
  await feed.acknowledge(deliveries)
  return clock.monotonicMs() - begunAt
}

/** For those who watch keys on which messages wait. */
function noteKey<Tx>({ blockedKeys }: Engine<Tx>, run: Run<Tx>, outcome: RunOutcome): void {
  if (run.handler.ordered === undefined) return
  if (outcome.kind === 'waiting' && outcome.behind === 'message') blockedKeys.grown()
  const orderKey = run.owner === undefined || !isGoodEnd(outcome) ? undefined : orderKeyOf(run)
  if (orderKey !== undefined) blockedKeys.moved(run.handler.name, orderKey)
}

function eventOf<Tx>(run: Run<Tx>, outcome: RunOutcome): JustonceEvent | undefined {
  const { name: handler, type } = run.handler
  const { key } = run
  switch (outcome.kind) {
    case 'processed':
      return { kind: 'processed', handler, key, type, attempt: laterAttempt(run) }
    case 'duplicate':
    case 'parked':
      return duplicateEvent(run, 'store', outcome.kind === 'duplicate' ? outcome.record.processedAt : undefined)
    case 'failed':
      return parkedEvent(run, outcome)
    case 'expired':
      return { kind: 'expired', handler, key, type }
    case 'key-reused':
      return {
        kind: 'parked',
        handler,
        key,
        reason: 'KEY_REUSED',
        state: 'dead',
        attempts: 0,
        error: keyReused(run, outcome),
      }
    case 'waiting':
      if (run.owner !== undefined) return undefined
      return {
        kind: 'parked',
        handler,
        key: rowKeyOf(run),
        reason: waitsFor[outcome.behind],
        state: 'waiting',
        attempts: 0,
        error: undefined,
      }
    default:
      return undefined
  }
}

/** The attempt that has succeeded, unless it was the first. */
function laterAttempt<Tx>({ owner }: Run<Tx>): number | undefined {
  return owner === undefined || owner.attempts === 0 ? undefined : owner.attempts + 1
}

function parkedEvent<Tx>(run: Run<Tx>, outcome: RunOutcome & { kind: 'failed' }): JustonceEvent {
  const { state, reason, attempts } = outcome.verdict
  const key = failedKeyOf(run, outcome)
  return { kind: 'parked', handler: run.handler.name, key, state, reason, attempts, error: outcome.error }
}

/**
 * At-most-once run. Its record is committed and the delivery is acknowledged, so a crash or failure from here on loses
 * the message.
 */
async function runAfterAck<Tx>(engine: Engine<Tx>, feed: Feed, recorded: Run<Tx>): Promise<readonly Promise<void>[]> {
  const outcomes: Outcomes = []
  // The row it came from is gone, because the run is already recorded as processed.
  const run: Run<Tx> = { ...recorded, owner: undefined }
  try {
    const { handler, delivery, origin } = run
    const executions = [{ handler, runs: [run] }]
    const works = [{ delivery, origin, runs: [run] }]
    const booksOf = () => gatherBookkeeping(engine, { works, refusals: [], settles: false }, outcomes, [run])
    const permits = { order: noOrder, timeIsUp: () => false, isAfterAck: true, wentWell: new Set<string>() }
    const call = (tx: Tx | undefined) => runTogether(engine, tx, executions, outcomes, permits)
    const isOutside = handler.transaction === 'none'
    if (isOutside) await call(undefined)
    const write = async (tx: Tx, lastWrites?: LastWrites) => {
      if (!isOutside) await call(tx)
      return await writeBookkeeping(engine, feed, { tx, lastWrites, blame: unwrapped }, booksOf(), noDeliveries)
    }
    const intended =
      isOutside && isNothing(booksOf())
        ? noIntents
        : await inTransaction(engine, engine.timing.longestLockTimeoutMs, write)
    const outcome = outcomes[run.index]
    engine.events.emit({ kind: 'processed', handler: run.handler.name, key: run.key, type: run.handler.type })
    if (outcome?.kind !== 'processed') return []
    engine.breakers.succeeded(run.handler)
    const { outgoing } = outcome.products
    engine.outlet.committed(outgoing)
    if (outgoing.length > 0) engine.events.emit({ kind: 'published', messages: outgoing.length })
    intentsCommitted(engine, intended)
    return startHooks(engine, run, outcome.products)
  } catch (error) {
    engine.events.emit({
      kind: 'at-most-once-failed',
      handler: run.handler.name,
      key: run.key,
      error: unwrapped(error),
    })
    feed.lost?.(run.handler.name, unwrapped(error))
    return []
  }
}

function startHooks<Tx>(engine: Engine<Tx>, run: Run<Tx>, { afterCommit }: RunProducts): readonly Promise<void>[] {
  return afterCommit.length === 0 ? [] : [engine.hooks.start(run.handler, afterCommit)]
}
