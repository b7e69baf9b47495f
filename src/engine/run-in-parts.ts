import type { Parts } from '../contracts/index.ts'
import type { Engine } from './engine.ts'
import { type Execution, split } from './executions.ts'
import { maxPartsPerTransaction } from './isolation.ts'
import { failedOutcome, mayRun, type Permits } from './may-run.ts'
import { runHandler } from './run-handler.ts'
import { Undone } from './undone.ts'
import type { Outcomes, Run } from './work.ts'

/** Runs them one after the other in the bare transaction: the first failure undoes all of it. */
export async function runTogether<Tx>(
  engine: Engine<Tx>,
  tx: Tx,
  executions: readonly Execution<Tx>[],
  outcomes: Outcomes<Tx>,
  permits: Permits<Tx>,
): Promise<void> {
  for (const execution of executions) {
    const runs = toBeRun(engine, execution, outcomes, permits)
    if (runs.length === 0) continue
    try {
      await runOne(engine, tx, { handler: execution.handler, runs }, outcomes)
    } catch (error) {
      throw error instanceof Undone ? error : new Undone('failure', error)
    }
  }
}

/** Runs them in parts of the given size, so that a failure undoes only its part; a failed part is run again in smaller ones. */
export async function runInParts<Tx>(
  engine: Engine<Tx>,
  { parts, size }: { readonly parts: Parts<Tx>; readonly size: number },
  tx: Tx,
  executions: readonly Execution<Tx>[],
  outcomes: Outcomes<Tx>,
  permits: Permits<Tx>,
): Promise<void> {
  // What the claim has decided stays decided, however often a part is run.
  const decided: ReadonlySet<Run<Tx>> = new Set(outcomes.keys())
  const queue = chunks(
    executions,
    executions.length < maxPartsPerTransaction ? size : Math.max(size, affordableSize(executions)),
  )
  const setAside = (error: unknown): void => {
    for (const { runs } of open) for (const run of runs) if (!decided.has(run)) outcomes.delete(run)
    failedTogether(engine, open, error, outcomes, queue)
    open = []
  }
  let open: Execution<Tx>[] = []
  for (let boundaries = 1; ; boundaries++) {
    if (boundaries > maxPartsPerTransaction) throw new Undone('failure', new Error('too many parts in one transaction'))
    try {
      await parts.next(tx)
    } catch (error) {
      if (engine.store.classify(error) !== 'none') throw error
      // Only now does it show that a handler of the open part has swallowed a database error.
      await parts.undo(tx)
      setAside(error)
    }
    const next = queue.shift()
    if (next === undefined) return
    open = next
    try {
      for (const execution of open) {
        const runs = toBeRun(engine, execution, outcomes, permits)
        if (runs.length > 0) await runOne(engine, tx, { handler: execution.handler, runs }, outcomes)
      }
    } catch (error) {
      if (error instanceof Undone) throw error
      await parts.undo(tx)
      setAside(error)
    }
  }
}

/** A run that failed alone has failed; of several nobody knows which, so they go again in smaller parts. */
function failedTogether<Tx>(
  engine: Engine<Tx>,
  open: Execution<Tx>[],
  error: unknown,
  outcomes: Outcomes<Tx>,
  queue: Execution<Tx>[][],
): void {
  const runs = open.flatMap((execution) => execution.runs)
  if (runs.length === 1) outcomes.set(runs[0] as Run<Tx>, failedOutcome(engine, runs[0] as Run<Tx>, error))
  else if (runs.length > 1) queue.unshift(...split(open))
}

async function runOne<Tx>(engine: Engine<Tx>, tx: Tx, execution: Execution<Tx>, outcomes: Outcomes<Tx>): Promise<void> {
  const products = await runHandler(engine, tx, execution)
  engine.breakers.succeeded(execution.handler)
  for (const run of execution.runs) {
    const own = run === execution.runs[0] ? products : { ...products, outgoing: [], afterCommit: [] }
    outcomes.set(run, { kind: 'processed', products: own })
  }
}

function toBeRun<Tx>(
  engine: Engine<Tx>,
  execution: Execution<Tx>,
  outcomes: Outcomes<Tx>,
  permits: Permits<Tx>,
): readonly Run<Tx>[] {
  return execution.runs.filter((run) => mayRun(engine, permits, run, outcomes))
}

/** Where there are more than there may be parts, half of the parts are kept for running failed ones again in smaller ones. */
function affordableSize(executions: readonly unknown[]): number {
  return Math.ceil(executions.length / (maxPartsPerTransaction / 2))
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  if (size >= items.length) return [[...items]]
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))
}
