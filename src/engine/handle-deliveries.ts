import type { Delivery } from '../contracts/index.ts'
import { afterTheCommit } from './after-the-commit.ts'
import type { Engine } from './engine.ts'
import { handleInTurn } from './handle-alone.ts'
import { handleByPosition } from './handle-by-position.ts'
import { orderKeyOf } from './key-order.ts'
import { noteFailures } from './note-failures.ts'
import { partlyAppliedRun } from './partly-applied.ts'
import type { PositionSource } from './position-items.ts'
import { type Batch, type Committed, processBatch } from './process-batch.ts'
import { emptyReport, type Report } from './report.ts'
import { type HoldsBack, type SortedOut, sortOut } from './sort-out.ts'
import type { Source } from './source.ts'
import { Undone, unwrapped } from './undone.ts'
import { type WhyUndone, whyUndone } from './why-undone.ts'
import type { Origin, Run, Work } from './work.ts'

/**
 * Handles deliveries so that each takes effect exactly once: together in one transaction while all goes well, in parts
 * once something has failed, each alone when the store reports a conflict.
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
  await handleInTurn(engine, source, sorted.alone, report)
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
    earlier: new Map(),
    settles: true,
    partSize: engine.isolation.partSize,
    lockTimeoutMs: engine.timing.batchLockTimeoutMs,
  }
  for (let lostCommits = 0; ; ) {
    const attempt = await tryBatch(engine, source, batch)
    if (attempt.undone === undefined) {
      noteFailures(engine, attempt.committed)
      // A commit whose answer was lost may have stored messages that nobody was told of.
      if (lostCommits > 0) engine.wakeRelay()
      return await afterTheCommit(engine, source, attempt.committed, report)
    }
    const { undone, error } = attempt
    const owner = ownerOf(batch, undone, error)
    if (undone === 'commit-unknown' && lostCommits++ < 3) {
      // Nobody would redeliver it. Claiming again waits for our own lost transaction and finds out.
    } else if (owner !== undefined) {
      const { works } = batch
      const culprit = works.indexOf(owner.work)
      const first = works.filter((work, place) => place <= culprit && (place === culprit || sharesOrder(work, owner)))
      await handleInTurn(engine, source, first, report, new Map([[owner, unwrapped(error)]]))
      const rest = works.filter((work) => !first.includes(work))
      const mustWait = report.held.includes(owner.work.delivery) ? rest.filter((work) => sharesOrder(work, owner)) : []
      report.held.push(...mustWait.map(({ delivery }) => delivery))
      batch = { ...batch, works: rest.filter((work) => !mustWait.includes(work)) }
      if (batch.works.length + batch.refusals.length === 0) return await acknowledgeKnown(source, batch, report)
    } else if (undone === 'failure' && engine.store.parts !== undefined && batch.partSize > 1) {
      if (batch.partSize === Number.POSITIVE_INFINITY) engine.isolation.saw(1, batch.works.length)
      batch = { ...batch, partSize: batch.partSize === Number.POSITIVE_INFINITY ? engine.isolation.partSize : 1 }
    } else {
      if (undone === 'conflict' || undone === 'held') report.conflicts++
      return await handleEachAlone(engine, source, batch, report)
    }
  }
}

type Attempt<Tx> =
  | { readonly undone: undefined; readonly committed: Committed<Tx> }
  | { readonly undone: Exclude<WhyUndone, 'unavailable'>; readonly error: unknown }

async function tryBatch<Tx>(engine: Engine<Tx>, source: Source, batch: Batch<Tx>): Promise<Attempt<Tx>> {
  try {
    return { undone: undefined, committed: await processBatch(engine, source, batch) }
  } catch (error) {
    const undone = whyUndone(engine, error)
    if (undone === 'unavailable') throw unwrapped(error)
    engine.events.emit({ kind: 'undone', reason: undone, error: unwrapped(error), messages: batch.works.length })
    return { undone, error }
  }
}

/** The run that has to answer for it, where that is certain: then it need not be run again to find out. */
function ownerOf<Tx>(batch: Batch<Tx>, why: WhyUndone, error: unknown): Run<Tx> | undefined {
  if (why === 'culprit' && error instanceof Undone) return error.run as Run<Tx> | undefined
  const runs = batch.works.flatMap((work) => work.runs)
  const partly = partlyAppliedRun(runs, error)
  if (partly !== undefined) return partly
  const [only, another] = runs
  return why === 'failure' && another === undefined ? only : undefined
}

async function handleEachAlone<Tx>(
  engine: Engine<Tx>,
  source: Source,
  batch: Batch<Tx>,
  report: Report,
): Promise<void> {
  await acknowledgeKnown(source, batch, report)
  for (const refusal of batch.refusals) {
    const committed = await processBatch(engine, source, { ...batch, works: [], known: [], refusals: [refusal] })
    await afterTheCommit(engine, source, committed, report)
  }
  await handleInTurn(engine, source, batch.works, report)
}

/** Whether a handler of the culprit keeps the order of a key that both have. */
function sharesOrder<Tx>(work: Work<Tx>, culprit: Run<Tx>): boolean {
  const orderKey = culprit.work.runs.map(orderKeyOf).find((key) => key !== undefined)
  return orderKey !== undefined && work.delivery.message.key === orderKey
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
