import { runTogether } from '../calls/run-in-parts.ts'
import type { Engine } from '../engine.ts'
import type { Feed } from '../feed.ts'
import { noIntents } from '../intending/store-intents.ts'
import type { Outcomes } from '../items.ts'
import { noOrder } from '../order/key-order.ts'
import { beginAttempts, reservedForMs } from '../retries/reservation.ts'
import { gatherBookkeeping, isNothing } from './bookkeeping.ts'
import { planExecutions } from './executions.ts'
import { type Batch, type Committed, doneDeliveries, effectiveDeliveries, processBatch } from './process-batch.ts'

/** Whether its handlers need no transaction, so that no connection must be held while they wait for something else. */
export function isOutside<Tx>({ works, moves }: Pick<Batch<Tx>, 'works' | 'moves'>): boolean {
  // A position is the record of everything before it, so it is moved first.
  if (works.length === 0 || moves !== undefined) return false
  return works.every(({ runs, origin: { reservation } }) => {
    // Where a copy of the message has a row of its own, only the transaction shows whether there is anything to do.
    if ((reservation?.elsewhere ?? reservation?.twin) !== undefined) return false
    // An at-most-once handler is called after its record has been committed.
    return runs.every(({ handler }) => handler.transaction === 'none' && handler.delivery === 'at-least-once')
  })
}

/**
 * Calls the handlers, and then writes what has become of their messages in a transaction, if there is anything to write. A crash in
 * between is followed by a redelivery, and another call.
 */
export async function processOutside<Tx>(engine: Engine<Tx>, feed: Feed, given: Batch<Tx>): Promise<Committed<Tx>> {
  const { works } = given
  const executions = planExecutions(works)
  const outcomes: Outcomes = [...given.earlier]
  // No lock keeps the rows from other processes while the handlers run, so they are reserved for that long.
  const longestMs = Math.max(...executions.map(({ handler }) => handler.timeoutMs))
  await beginAttempts(engine, given, longestMs + reservedForMs)
  // Another process has the row by now, or it is gone: the transaction leaves it, and calls nothing.
  if (works.some(({ origin }) => origin.reservation !== undefined && origin.reservation.revision === undefined))
    return await processBatch(engine, feed, { ...given, hasBegun: true })
  const permits = { order: noOrder, timeIsUp: () => false, wentWell: new Set<string>() }
  await runTogether(engine, undefined, executions, outcomes, permits)

  const runs = works.flatMap((work) => work.runs)
  const done = doneDeliveries(given, outcomes)
  const isSettledInside = feed.inside !== undefined && done.length + effectiveDeliveries(given, outcomes).length > 0
  if (isSettledInside || !isNothing(gatherBookkeeping(engine, given, outcomes, runs)))
    return await processBatch(engine, feed, { ...given, earlier: outcomes, hasBegun: true })
  const nothing = { epoch: undefined, published: [], intended: noIntents, lost: [], overheadMs: 0 }
  return { ...nothing, batch: given, runs, outcomes, done }
}
