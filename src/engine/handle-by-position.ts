import type { Delivery } from '../contracts/index.ts'
import { afterTheCommit } from './after-the-commit.ts'
import type { Engine } from './engine.ts'
import { noteFailures } from './note-failures.ts'
import { movesPast, partitionId } from './partition-moves.ts'
import { type Item, itemsOf, type PositionSource } from './position-items.ts'
import { type Batch, processBatch } from './process-batch.ts'
import type { Report } from './report.ts'
import type { HoldsBack } from './sort-out.ts'
import { Undone, unwrapped } from './undone.ts'
import { whyUndone } from './why-undone.ts'
import type { Origin, Run, Work } from './work.ts'

/**
 * The same as handleDeliveries where positions are kept in the store: what was handled of a partition is always all of it
 * up to some position, so that nothing may be left out, and a message with several handlers is one transaction.
 */
export async function handleByPosition<Tx>(
  engine: Engine<Tx>,
  source: PositionSource,
  deliveries: readonly Delivery[],
  report: Report,
  suspicionOf: (delivery: Delivery) => Pick<Origin, 'suspect' | 'condemned'>,
  holdsBack: HoldsBack = () => true,
): Promise<Report> {
  const items = await itemsOf(engine, source, deliveries, report, suspicionOf, holdsBack)
  if (items.length === 0) return report
  if (!(await handledTogether(engine, source, items, report))) await handleOneByOne(engine, source, items, report)
  return report
}

/** Resolves to false when they have to be handled one by one. */
async function handledTogether<Tx>(
  engine: Engine<Tx>,
  source: PositionSource,
  items: readonly Item<Tx>[],
  report: Report,
): Promise<boolean> {
  let { partSize } = engine.isolation
  for (let lostCommits = 0; ; ) {
    try {
      const committed = await processBatch(engine, source, batchOf(engine, items, partSize))
      noteFailures(engine, committed)
      await afterTheCommit(engine, source, committed, report)
      return true
    } catch (error) {
      const why = whyUndone(engine, error)
      if (why === 'unavailable') throw unwrapped(error)
      engine.events.emit({ kind: 'undone', reason: why, error: unwrapped(error), messages: items.length })
      if (why === 'commit-unknown' && lostCommits++ < 3) continue
      if (why === 'conflict' || why === 'held') report.conflicts++
      if (why !== 'failure' || partSize !== Number.POSITIVE_INFINITY) return false
      engine.isolation.saw(1, items.length)
      partSize = engine.isolation.partSize
    }
  }
}

async function handleOneByOne<Tx>(
  engine: Engine<Tx>,
  source: PositionSource,
  items: readonly Item<Tx>[],
  report: Report,
): Promise<void> {
  const held = new Set<string>()
  for (const item of items) {
    const partition = partitionId(item.delivery)
    if (held.has(partition)) report.held.push(item.delivery)
    else if ((await settle(engine, source, item, report)) === 'held') {
      report.held.push(item.delivery)
      held.add(partition)
    }
  }
}

/** Tries until it is decided. Conflicts are bounded; then they are a failure, as anything else is at once. */
async function settle<Tx>(
  engine: Engine<Tx>,
  source: PositionSource,
  given: Item<Tx>,
  report: Report,
): Promise<'held' | 'settled'> {
  const { timing, clock } = engine
  let item = given
  for (let tries = 1; ; tries++) {
    try {
      const batch = batchOf(engine, [item], 1)
      const lockTimeoutMs = Math.min(timing.batchLockTimeoutMs * 2 ** (tries - 1), timing.aloneLockTimeoutMs)
      const committed = await processBatch(engine, source, { ...batch, lockTimeoutMs })
      await afterTheCommit(engine, source, committed, report)
      return 'settled'
    } catch (error) {
      const why = whyUndone(engine, error)
      if (why === 'held') return 'held'
      if (why === 'unavailable' || item.work === undefined) throw unwrapped(error)
      engine.events.emit({ kind: 'undone', reason: why, error: unwrapped(error), messages: 1 })
      const isAgain = why === 'conflict' || why === 'commit-unknown'
      if (isAgain && tries < timing.conflictsPerAttempt)
        await clock.sleep(2 ** Math.min(tries, 6) * (1 + clock.random()))
      else {
        // Known to fail and failing even without being run: then it is the store's failure, not the message's.
        if (item.work.runs.every((run) => run.failure !== undefined)) throw error
        const culprit = error instanceof Undone ? (error.run as Run<Tx> | undefined) : undefined
        item = { ...item, work: withFailure(item.work, culprit, unwrapped(error)) }
      }
    }
  }
}

/** The same work with the culprit, or all where that is not known, known to fail. */
function withFailure<Tx>(
  { delivery, origin, runs: before }: Work<Tx>,
  culprit: Run<Tx> | undefined,
  error: unknown,
): Work<Tx> {
  const runs: Run<Tx>[] = []
  const work: Work<Tx> = { delivery, origin, runs }
  for (const run of before) {
    const fails = run.failure === undefined && (culprit === undefined || culprit === run)
    runs.push({ ...run, work, failure: fails ? { error } : run.failure })
  }
  return work
}

function batchOf<Tx>(engine: Engine<Tx>, items: readonly Item<Tx>[], partSize: number): Batch<Tx> {
  return {
    works: items.flatMap(({ work }) => work ?? []),
    refusals: items.flatMap(({ refusal }) => refusal ?? []),
    known: items.flatMap(({ delivery, work, refusal }) => ((work ?? refusal) === undefined ? delivery : [])),
    earlier: new Map(),
    settles: true,
    partSize,
    lockTimeoutMs: engine.timing.batchLockTimeoutMs,
    moves: movesPast(items.map(({ delivery }) => delivery)),
  }
}
