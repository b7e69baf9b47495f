import type { Delivery } from '../contracts/index.ts'
import { afterTheCommit } from './after-the-commit.ts'
import type { Engine } from './engine.ts'
import { isDenied, keepSomehow, keepWaiting, stuck } from './keep-somehow.ts'
import { orderKeyOf } from './key-order.ts'
import { type Batch, processBatch } from './process-batch.ts'
import type { Report } from './report.ts'
import type { Source } from './source.ts'
import { unwrapped } from './undone.ts'
import { isPassing, triedAgain, whyUndone } from './why-undone.ts'
import type { Outcomes, Run, RunOutcome, Work } from './work.ts'

export interface InTurn {
  readonly report: Report
  /** Runs that are known to fail, by their numbers, and with what: they are parked without being run again. */
  readonly failures?: ReadonlyMap<number, unknown> | undefined
  /** What has become of runs already: they are not run again. */
  readonly done?: Outcomes | undefined
}

/** Handles messages one after the other. Where one has to be tried later, those that must not overtake it are too. */
export async function handleInTurn<Tx>(
  engine: Engine<Tx>,
  source: Source,
  works: readonly Work<Tx>[],
  how: InTurn,
): Promise<void> {
  const { report } = how
  // By order key, where a message of it was left: those that follow it are left there, too.
  const left = new Map<string, Delivery[]>()
  for (const work of works) {
    const { delivery, runs } = work
    const orderKey = runs.map(orderKeyOf).find((key) => key !== undefined)
    const before = orderKey === undefined ? undefined : left.get(orderKey)
    if (before !== undefined) {
      before.push(delivery)
      continue
    }
    await handleAlone(engine, source, work, how)
    const list = [report.held, report.again].find((each) => each.at(-1) === delivery)
    if (orderKey !== undefined && list !== undefined) left.set(orderKey, list)
  }
}

/** Handles one message with a transaction for each of its handlers: whatever goes wrong has only one owner then. */
async function handleAlone<Tx>(
  engine: Engine<Tx>,
  source: Source,
  work: Work<Tx>,
  { report, failures, done }: InTurn,
): Promise<void> {
  const earlier: Outcomes = [...(done ?? [])]
  const left = work.runs.filter(({ index }) => earlier[index] === undefined)
  for (const run of left) {
    const known = failures?.has(run.index) ? { error: failures.get(run.index) } : run.failure
    const isLast = run === left.at(-1)
    const outcome = await settleRun(engine, source, { run, earlier, known, isLast, report })
    if (outcome === 'settled') return
    if (outcome === 'held') {
      engine.events.emit({ kind: 'claim-held', handler: run.handler.name, key: run.key })
      report.held.push(work.delivery)
      return
    }
    // It comes again, and then what is left of it goes on.
    if (outcome.kind === 'unstarted') return
    earlier[run.index] = outcome
  }
}

interface RunAlone<Tx> {
  readonly run: Run<Tx>
  readonly earlier: Outcomes
  readonly known: Run<Tx>['failure']
  readonly isLast: boolean
  readonly report: Report
}

/**
 * Tries until the run is decided: processed, parked or a duplicate. Conflicts are bounded; then they are a failure.
 * `settled`: all of its message is, in another way.
 */
async function settleRun<Tx>(
  engine: Engine<Tx>,
  source: Source,
  alone: RunAlone<Tx>,
): Promise<RunOutcome | 'held' | 'settled'> {
  let failure = alone.known
  let isPlain = false
  for (let tries = 1, rounds = 1; ; tries++, rounds++) {
    const run: Run<Tx> = { ...alone.run, failure, isPlain }
    try {
      const committed = await processBatch(engine, source, batchOfOne(engine, run, alone, rounds))
      await afterTheCommit(engine, source, committed, alone.report)
      return committed.outcomes[run.index] as RunOutcome
    } catch (error) {
      const why = await whyUndone(engine, error)
      if (why === 'held' && !isDenied(error)) return 'held'
      engine.events.emit({ kind: 'undone', reason: why, error: unwrapped(error), messages: 1 })
      if (await triedAgain(engine, why, tries)) continue
      if (why === 'unkeepable') {
        await keepWaiting(
          engine,
          source,
          { ...alone.run, runs: [alone.run] },
          { report: alone.report, error: unwrapped(error) },
        )
        return 'settled'
      }
      if (isDenied(error)) {
        stuck(engine, alone.run, unwrapped(error), alone.report)
        return 'settled'
      }
      // Known to fail and failing even without being run: what is left is to keep it in another way.
      if (failure !== undefined) {
        if (isPassing(why) && why !== 'connection-lost') return 'held'
        if (why === 'failure' && !isPlain) {
          isPlain = true
          continue
        }
        await keepSomehow(
          engine,
          source,
          { ...alone.run, runs: [alone.run] },
          { report: alone.report, failure, error: unwrapped(error) },
        )
        return 'settled'
      }
      failure = { error: unwrapped(error) }
      tries = 0
    }
  }
}

function batchOfOne<Tx>(engine: Engine<Tx>, run: Run<Tx>, alone: RunAlone<Tx>, rounds: number): Batch<Tx> {
  const { batchLockTimeoutMs, aloneLockTimeoutMs } = engine.timing
  return {
    works: [{ delivery: run.delivery, origin: run.origin, runs: [run] }],
    refusals: [],
    known: [],
    earlier: alone.earlier,
    settles: alone.isLast,
    partSize: Number.POSITIVE_INFINITY,
    // Alone it may wait longer each time: it holds nobody up but those who want the same rows.
    lockTimeoutMs: Math.min(batchLockTimeoutMs * 2 ** (rounds - 1), aloneLockTimeoutMs),
  }
}
