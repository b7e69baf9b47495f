import type { Delivery } from '../contracts/index.ts'
import { afterTheCommit } from './after-the-commit.ts'
import type { Engine } from './engine.ts'
import { orderKeyOf } from './key-order.ts'
import { type Batch, processBatch } from './process-batch.ts'
import type { Report } from './report.ts'
import type { Source } from './source.ts'
import { unwrapped } from './undone.ts'
import { whyUndone } from './why-undone.ts'
import type { Outcomes, Run, RunOutcome, Work } from './work.ts'

/** Runs that are known to fail, and with what: they are parked without being run again. */
export type KnownFailures<Tx> = ReadonlyMap<Run<Tx>, unknown>

/** Handles messages one after the other. Where one has to be tried later, those that must not overtake it are too. */
export async function handleInTurn<Tx>(
  engine: Engine<Tx>,
  source: Source,
  works: readonly Work<Tx>[],
  report: Report,
  failures?: KnownFailures<Tx>,
): Promise<void> {
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
    await handleAlone(engine, source, work, report, failures)
    const list = [report.held, report.again].find((each) => each.at(-1) === delivery)
    if (orderKey !== undefined && list !== undefined) left.set(orderKey, list)
  }
}

/** Handles one message with a transaction for each of its handlers: whatever goes wrong has only one owner then. */
async function handleAlone<Tx>(
  engine: Engine<Tx>,
  source: Source,
  work: Work<Tx>,
  report: Report,
  failures: KnownFailures<Tx> = new Map(),
): Promise<void> {
  const earlier: Outcomes<Tx> = new Map()
  for (const run of work.runs) {
    const known = failures.has(run) ? { error: failures.get(run) } : run.failure
    const outcome = await settleRun(engine, source, { run, earlier, known, report })
    if (outcome === 'held') {
      engine.events.emit({ kind: 'claim-held', handler: run.handler.name, key: run.key })
      report.held.push(work.delivery)
      return
    }
    // It comes again, and then what is left of it goes on.
    if (outcome.kind === 'unstarted') return
    earlier.set(run, outcome)
  }
}

interface RunAlone<Tx> {
  readonly run: Run<Tx>
  readonly earlier: Outcomes<Tx>
  readonly known: Run<Tx>['failure']
  readonly report: Report
}

/** Tries until the run is decided: processed, parked or a duplicate. Conflicts are bounded; then they are a failure. */
async function settleRun<Tx>(engine: Engine<Tx>, source: Source, alone: RunAlone<Tx>): Promise<RunOutcome | 'held'> {
  const { timing, clock } = engine
  let failure = alone.known
  for (let tries = 1; ; tries++) {
    const run: Run<Tx> = { ...alone.run, failure }
    try {
      const committed = await processBatch(engine, source, batchOfOne(engine, run, alone, tries))
      await afterTheCommit(engine, source, committed, alone.report)
      return committed.outcomes.get(run) as RunOutcome
    } catch (error) {
      const why = whyUndone(engine, error)
      if (why === 'held') return 'held'
      if (why === 'unavailable') throw unwrapped(error)
      engine.events.emit({ kind: 'undone', reason: why, error: unwrapped(error), messages: 1 })
      const again = why === 'conflict' || why === 'commit-unknown'
      // Known to fail and failing even without being run: then it is the store's failure, not the message's.
      if (!again && failure !== undefined) throw error
      if (!again || tries >= timing.conflictsPerAttempt) failure = { error: unwrapped(error) }
      else await clock.sleep(2 ** Math.min(tries, 6) * (1 + clock.random()))
    }
  }
}

function batchOfOne<Tx>(engine: Engine<Tx>, run: Run<Tx>, alone: RunAlone<Tx>, tries: number): Batch<Tx> {
  const { batchLockTimeoutMs, aloneLockTimeoutMs } = engine.timing
  return {
    works: [{ ...run.work, runs: [run] }],
    refusals: [],
    known: [],
    earlier: alone.earlier,
    settles: run.work.runs.at(-1) === alone.run,
    partSize: Number.POSITIVE_INFINITY,
    // Alone it may wait longer each time: it holds nobody up but those who want the same rows.
    lockTimeoutMs: Math.min(batchLockTimeoutMs * 2 ** (tries - 1), aloneLockTimeoutMs),
  }
}
