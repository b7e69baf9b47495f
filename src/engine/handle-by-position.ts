import type { Delivery } from '../contracts/index.ts'
import { afterTheCommit } from './after-the-commit.ts'
import type { Engine } from './engine.ts'
import { isDenied, keepSomehow, keepWaiting, stuck } from './keep-somehow.ts'
import { noteFailures } from './note-failures.ts'
import { movesPast, partitionId } from './partition-moves.ts'
import { type Item, itemsOf, type PositionSource } from './position-items.ts'
import { type Batch, processBatch } from './process-batch.ts'
import type { Report } from './report.ts'
import type { HoldsBack } from './sort-out.ts'
import { Undone, unwrapped } from './undone.ts'
import { isPassing, triedAgain, whyUndone } from './why-undone.ts'
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
  const held = new Set<string>()
  await handleItems(engine, source, items, { report, held })
  return report
}

interface Handling {
  readonly report: Report
  /** Partitions of which something has to be tried later: nothing that follows may be handled before. */
  readonly held: Set<string>
}

/** Together while that goes well; what fails beside others alone, between those before and those after it. */
async function handleItems<Tx>(
  engine: Engine<Tx>,
  source: PositionSource,
  given: readonly Item<Tx>[],
  handling: Handling,
): Promise<void> {
  const { report, held } = handling
  const items = given.filter(({ delivery }) => !held.has(partitionId(delivery)))
  for (const { delivery } of given) if (held.has(partitionId(delivery))) report.held.push(delivery)
  const [first, another] = items
  if (first === undefined) return
  if (another === undefined) return await handleAlone(engine, source, first, handling)
  const failed = await failedTogether(engine, source, items, report)
  if (failed === 'none') return
  for (const piece of failed === 'any' ? items.map((item) => [item]) : piecesOf(items, failed))
    await handleItems(engine, source, piece, handling)
}

/** Around each of those that failed. */
function piecesOf<Tx>(items: readonly Item<Tx>[], failed: ReadonlySet<Work<Tx>>): Item<Tx>[][] {
  const pieces: Item<Tx>[][] = [[]]
  for (const item of items) {
    if (item.work !== undefined && failed.has(item.work)) pieces.push([item], [])
    else pieces.at(-1)?.push(item)
  }
  return pieces
}

/** Handles them in one transaction. Resolves to those that failed in it; `any`: nobody knows which. */
async function failedTogether<Tx>(
  engine: Engine<Tx>,
  source: PositionSource,
  items: readonly Item<Tx>[],
  report: Report,
): Promise<ReadonlySet<Work<Tx>> | 'none' | 'any'> {
  let { partSize } = engine.isolation
  for (let lostCommits = 0, losses = 0; ; ) {
    try {
      const committed = await processBatch(engine, source, batchOf(engine, items, partSize))
      noteFailures(engine, committed)
      await afterTheCommit(engine, source, committed, report)
      return 'none'
    } catch (error) {
      const why = await whyUndone(engine, error)
      engine.events.emit({ kind: 'undone', reason: why, error: unwrapped(error), messages: items.length })
      if (why === 'commit-unknown' && lostCommits++ < 3) continue
      if (why === 'conflict' || why === 'held') report.conflicts++
      const runs = error instanceof Undone && why !== 'conflict' ? (error.runs as readonly Run<Tx>[]) : []
      if (why === 'failure') engine.isolation.saw(Math.max(1, runs.length), items.length)
      const blamed = new Set(runs.map(({ delivery }) => delivery))
      const works = new Set(items.flatMap(({ delivery, work }) => (work && blamed.has(delivery) ? work : [])))
      // All at once by one call, or nobody is known: only each alone will tell.
      if (works.size > 0 && works.size < items.length) return works
      if (why === 'connection-lost' && works.size === 0 && (await triedAgain(engine, why, ++losses))) continue
      if (why !== 'failure' || partSize !== Number.POSITIVE_INFINITY) return 'any'
      partSize = engine.isolation.partSize
    }
  }
}

async function handleAlone<Tx>(
  engine: Engine<Tx>,
  source: PositionSource,
  item: Item<Tx>,
  { report, held }: Handling,
): Promise<void> {
  const isHeld = (await settle(engine, source, item, report)) === 'held'
  if (isHeld) report.held.push(item.delivery)
  if (isHeld || report.stuck.has(item.delivery)) held.add(partitionId(item.delivery))
}

/** Tries until it is decided. Conflicts are bounded; then they are a failure, as anything else is at once. */
async function settle<Tx>(
  engine: Engine<Tx>,
  source: PositionSource,
  given: Item<Tx>,
  report: Report,
): Promise<'held' | 'settled'> {
  const { timing } = engine
  let item = given
  for (let tries = 1, rounds = 1; ; tries++, rounds++) {
    const batch = batchOf(engine, [item], 1)
    const lockTimeoutMs = Math.min(timing.batchLockTimeoutMs * 2 ** (rounds - 1), timing.aloneLockTimeoutMs)
    try {
      const committed = await processBatch(engine, source, { ...batch, lockTimeoutMs })
      await afterTheCommit(engine, source, committed, report)
      return 'settled'
    } catch (error) {
      const why = await whyUndone(engine, error)
      if (why === 'held' && !isDenied(error)) return 'held'
      engine.events.emit({ kind: 'undone', reason: why, error: unwrapped(error), messages: 1 })
      if (await triedAgain(engine, why, tries)) continue
      if (isDenied(error)) {
        stuck(engine, { delivery: item.delivery, origin: item.work?.origin ?? {} }, unwrapped(error), report)
        return 'settled'
      }
      const { work, refusal, delivery } = item
      const origin = work?.origin ?? { mark: refusal?.mark }
      const message = { delivery, origin, runs: work?.runs ?? [] }
      const keeping = { report, error: unwrapped(error), moves: batch.moves }
      if (why === 'unkeepable') {
        await keepWaiting(engine, source, message, keeping)
        return 'settled'
      }
      // Known to fail and failing even without being run: what is left is to keep it in another way.
      if (work === undefined || work.runs.every((run) => run.failure !== undefined)) {
        if (isPassing(why) && why !== 'connection-lost') return 'held'
        if (why === 'failure' && work !== undefined && !work.runs.some(({ isPlain }) => isPlain)) {
          item = { ...item, work: changedRuns(work, (run) => ({ ...run, isPlain: true })) }
          continue
        }
        const failure = refusal ?? work?.runs[0]?.failure ?? { error }
        await keepSomehow(engine, source, message, { ...keeping, failure })
        return 'settled'
      }
      const [culprit, another] = error instanceof Undone ? (error.runs as readonly Run<Tx>[]) : []
      item = { ...item, work: withFailure(work, another === undefined ? culprit : undefined, unwrapped(error)) }
      tries = 0
    }
  }
}

/** The same work with the culprit, or all where that is not known, known to fail. */
function withFailure<Tx>(given: Work<Tx>, culprit: Run<Tx> | undefined, error: unknown): Work<Tx> {
  return changedRuns(given, (run) => {
    const fails = run.failure === undefined && (culprit === undefined || culprit.index === run.index)
    return { ...run, failure: fails ? { error } : run.failure }
  })
}

function changedRuns<Tx>(work: Work<Tx>, change: (run: Run<Tx>) => Run<Tx>): Work<Tx> {
  return { ...work, runs: work.runs.map(change) }
}

function batchOf<Tx>(engine: Engine<Tx>, items: readonly Item<Tx>[], partSize: number): Batch<Tx> {
  return {
    works: items.flatMap(({ work }) => work ?? []),
    refusals: items.flatMap(({ refusal }) => refusal ?? []),
    known: items.flatMap(({ delivery, work, refusal }) => ((work ?? refusal) === undefined ? delivery : [])),
    earlier: [],
    settles: true,
    partSize,
    lockTimeoutMs: engine.timing.batchLockTimeoutMs,
    moves: movesPast(items.map(({ delivery }) => delivery)),
  }
}
