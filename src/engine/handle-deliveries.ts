import type { Delivery } from '../contracts/index.ts'
import { afterTheCommit } from './after-the-commit.ts'
import { type Blame, blamedFor } from './blame.ts'
import { isHandled, isLeft } from './bookkeeping.ts'
import type { Engine } from './engine.ts'
import { handleInTurn } from './handle-alone.ts'
import { handleByPosition } from './handle-by-position.ts'
import { keepSomehow } from './keep-somehow.ts'
import { orderKeyOf } from './key-order.ts'
import { noteFailures } from './note-failures.ts'
import type { PositionSource } from './position-items.ts'
import { type Batch, type Committed, processBatch } from './process-batch.ts'
import { emptyReport, type Report } from './report.ts'
import { type HoldsBack, type SortedOut, sortOut } from './sort-out.ts'
import type { Source } from './source.ts'
import { unwrapped } from './undone.ts'
import { triedAgain, type WhyUndone, whyUndone } from './why-undone.ts'
import type { Origin, Outcomes, Refusal, Work } from './work.ts'

/**
 * Handles deliveries so that each takes effect exactly once: together in one transaction while all goes well, in parts
 * once something has failed, each alone when the store reports a conflict. What fails beside others is run alone, and only
 * a failure alone is one.
 * Resolves when every delivery is committed and acknowledged or listed in the report as not handled. Rejects when the
 * store is unavailable; the caller then keeps the deliveries, except those that the report has as settled by then, and
 * calls again with them: what was committed and could not be acknowledged shows as duplicates.
 */
export async function handleDeliveries<Tx>(
  engine: Engine<Tx>,
  source: Source,
  deliveries: readonly Delivery[],
  report: Report = emptyReport(),
  suspicionOf: (delivery: Delivery) => Pick<Origin, 'suspect' | 'condemned'> = () => ({}),
  holdsBack: HoldsBack = () => true,
): Promise<Report> {
  if (isPositionSource(source))
    return await handleByPosition(engine, source, deliveries, report, suspicionOf, holdsBack)
  return await handleSorted(engine, source, await sortOut(engine, deliveries, suspicionOf, holdsBack), report)
}

function isPositionSource(source: Source): source is PositionSource {
  return source.positions !== undefined
}

/** The same for what has been prepared already. */
export async function handleSorted<Tx>(
  engine: Engine<Tx>,
  source: Source,
  sorted: SortedOut<Tx>,
  report: Report,
): Promise<Report> {
  if (sorted.shared.length + sorted.refusals.length > 0) await handleTogether(engine, source, sorted, report)
  else await acknowledgeKnown(source, sorted, report)
  await handleInTurn(engine, source, sorted.alone, { report })
  // After what was not begun: a copy must not overtake its original.
  report.again.push(...sorted.again)
  report.stopped.push(...sorted.stopped)
  return report
}

async function handleTogether<Tx>(
  engine: Engine<Tx>,
  source: Source,
  sorted: SortedOut<Tx>,
  report: Report,
): Promise<void> {
  let batch: Batch<Tx> = {
    works: sorted.shared,
    refusals: sorted.refusals,
    known: sorted.known,
    earlier: [],
    settles: true,
    partSize: engine.isolation.partSize,
    lockTimeoutMs: engine.timing.batchLockTimeoutMs,
  }
  for (let tries = 1, lostCommits = 0, losses = 0; ; tries++) {
    const attempt = await tryBatch(engine, source, batch)
    if (attempt.undone === undefined) {
      noteFailures(engine, attempt.committed)
      // A commit whose answer was lost may have stored messages that nobody was told of.
      if (lostCommits > 0) engine.wake('relay')
      await afterTheCommit(engine, source, attempt.committed, report)
      return await handleApart(engine, source, attempt.committed, report)
    }
    const { undone, error } = attempt
    const blamed = blamedFor(batch, undone, error)
    if (undone === 'commit-unknown' && lostCommits++ < 3) {
      // Nobody would redeliver it. Claiming again waits for our own lost transaction and finds out.
    } else if (blamed !== undefined && (engine.store.parts !== undefined || tries <= 3)) {
      if (undone === 'failure') batch = inParts(engine, batch)
      batch = { ...batch, works: await handleBlamed(engine, source, batch, { ...blamed, error }, report) }
      if (batch.works.length + batch.refusals.length === 0) return await acknowledgeKnown(source, batch, report)
    } else if (undone === 'connection-lost' && (await triedAgain(engine, undone, ++losses))) {
      // It was our own statement: nobody is to blame yet.
    } else if (undone === 'failure' && engine.store.parts !== undefined && isBare(batch)) {
      batch = inParts(engine, batch)
    } else {
      if (undone === 'conflict' || undone === 'held') report.conflicts++
      return await handleEachAlone(engine, source, batch, report)
    }
  }
}

function isBare<Tx>({ partSize, works }: Batch<Tx>): boolean {
  return partSize === Number.POSITIVE_INFINITY && works.length > 1
}

function inParts<Tx>({ isolation }: Engine<Tx>, batch: Batch<Tx>): Batch<Tx> {
  if (!isBare(batch)) return batch
  isolation.saw(1, batch.works.length)
  return { ...batch, partSize: isolation.partSize }
}

type Attempt<Tx> =
  | { readonly undone: undefined; readonly committed: Committed<Tx> }
  | { readonly undone: WhyUndone; readonly error: unknown }

async function tryBatch<Tx>(engine: Engine<Tx>, source: Source, batch: Batch<Tx>): Promise<Attempt<Tx>> {
  try {
    return { undone: undefined, committed: await processBatch(engine, source, batch) }
  } catch (error) {
    const undone = await whyUndone(engine, error)
    engine.events.emit({ kind: 'undone', reason: undone, error: unwrapped(error), messages: batch.works.length })
    return { undone, error }
  }
}

/** What has failed beside others in a batch that went well without it. */
async function handleApart<Tx>(
  engine: Engine<Tx>,
  source: Source,
  { batch, outcomes }: Committed<Tx>,
  report: Report,
): Promise<void> {
  const apart: Work<Tx>[] = []
  // The order keys of what the batch has left: whoever follows one of those comes again with it, and must not overtake it.
  const left = new Set<string>()
  for (const work of batch.works) {
    if (isHandled(work, outcomes)) continue
    const orderKey = work.runs.map(orderKeyOf).find((key) => key !== undefined)
    const isApart = work.runs.some((run) => outcomes[run.index]?.kind === 'apart')
    if (isApart && (orderKey === undefined || !left.has(orderKey))) {
      apart.push(work)
      continue
    }
    if (isApart) report.again.push(work.delivery)
    if (orderKey !== undefined) left.add(orderKey)
  }
  if (apart.length === 0) return
  const done: Outcomes = outcomes.map((outcome) => (isLeft(outcome) ? undefined : outcome))
  await handleInTurn(engine, source, apart, { report, done })
}

interface Blamed<Tx> extends Blame<Tx> {
  readonly error: unknown
}

/** Handles whoever is to blame, and what must come before it, alone. Resolves to what is left of the batch. */
async function handleBlamed<Tx>(
  engine: Engine<Tx>,
  source: Source,
  { works }: Batch<Tx>,
  { run, isFailed, error }: Blamed<Tx>,
  report: Report,
): Promise<readonly Work<Tx>[]> {
  const place = works.findIndex(({ delivery }) => delivery === run.delivery)
  const blamed = works[place] as Work<Tx>
  const first = works.filter((work, each) => each === place || (each < place && sharesOrder(work, blamed)))
  const failures = isFailed ? new Map([[run.index, unwrapped(error)]]) : undefined
  await handleInTurn(engine, source, first, { report, failures })
  const rest = works.filter((work) => !first.includes(work))
  const mustWait = [report.held, report.again].find((list) => list.includes(run.delivery))
  if (mustWait === undefined) return rest
  const following = rest.filter((work) => sharesOrder(work, blamed))
  mustWait.push(...following.map(({ delivery }) => delivery))
  return rest.filter((work) => !following.includes(work))
}

async function handleEachAlone<Tx>(
  engine: Engine<Tx>,
  source: Source,
  batch: Batch<Tx>,
  report: Report,
): Promise<void> {
  await acknowledgeKnown(source, batch, report)
  for (const refusal of batch.refusals)
    await handleRefusal(engine, source, { ...batch, works: [], known: [] }, refusal, report)
  await handleInTurn(engine, source, batch.works, { report })
}

async function handleRefusal<Tx>(
  engine: Engine<Tx>,
  source: Source,
  batch: Batch<Tx>,
  refusal: Refusal,
  report: Report,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      const committed = await processBatch(engine, source, { ...batch, refusals: [refusal] })
      return await afterTheCommit(engine, source, committed, report)
    } catch (error) {
      if (await triedAgain(engine, await whyUndone(engine, error), tries)) continue
      const message = { delivery: refusal.delivery, origin: refusal, runs: [] }
      const options = { report, failure: refusal, error: unwrapped(error) }
      return await keepSomehow(engine, source, message, options)
    }
  }
}

/** Whether a handler of the culprit keeps the order of a key that both have. */
function sharesOrder<Tx>(work: Work<Tx>, culprit: Work<Tx>): boolean {
  const orderKey = culprit.runs.map(orderKeyOf).find((key) => key !== undefined)
  return orderKey !== undefined && work.delivery.message.key === culprit.delivery.message.key
}

async function acknowledgeKnown(
  source: Source,
  { known }: { readonly known: readonly Delivery[] },
  report: Report,
): Promise<void> {
  if (known.length > 0) await source.acknowledge(known)
  report.settled.push(...known)
  report.wentWell += known.length
}
