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
  given: Permits<Tx>,
): Promise<void> {
  // What has run once runs again when its part has failed, however late it is: otherwise a batch could end with nothing.
  const begun = new Set<Run<Tx>>()
  const permits: Permits<Tx> = { order: given.order, timeIsUp: (run) => !begun.has(run) && given.timeIsUp(run) }
  // What the claim has decided stays decided, however often a part is run.
  const decided: ReadonlySet<Run<Tx>> = new Set(outcomes.keys())
  const queue = chunks(
    executions,
    executions.length < maxPartsPerTransaction ? size : Math.max(size, affordableSize(executions)),
  )
  const setAside = (error: unknown, thrower?: Execution<Tx>): void => {
    for (const { runs } of open) for (const run of runs) if (!decided.has(run)) outcomes.delete(run)
    failedTogether(engine, { open, thrower, error }, outcomes, queue)
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
    let running: Execution<Tx> | undefined
    try {
      for (const execution of open) {
        running = execution
        const runs = toBeRun(engine, execution, outcomes, permits)
        for (const run of runs) begun.add(run)
        if (runs.length > 0) await runOne(engine, tx, { handler: execution.handler, runs }, outcomes)
      }
    } catch (error) {
      if (error instanceof Undone) throw error
      await parts.undo(tx)
      setAside(error, running)
    }
  }
}

interface FailedPart<Tx> {
  readonly open: readonly Execution<Tx>[]
  /** Who threw, where that is known: a swallowed error shows only at the end of the part. */
  readonly thrower: Execution<Tx> | undefined
  readonly error: unknown
}

/**
 * A run that failed alone has failed. Of several, whoever threw goes again by itself, between those before and those after
 * it: it may have met what another one left behind. Where nobody threw, they go again in smaller parts.
 */
function failedTogether<Tx>(
  engine: Engine<Tx>,
  { open, thrower, error }: FailedPart<Tx>,
  outcomes: Outcomes<Tx>,
  queue: Execution<Tx>[][],
): void {
  const [first, another] = open.flatMap((execution) => execution.runs)
  if (first === undefined) return
  if (another === undefined) outcomes.set(first, failedOutcome(engine, first, error))
  else if (thrower === undefined || open.length === 1) queue.unshift(...split(open))
  else {
    const place = open.indexOf(thrower)
    const pieces = [open.slice(0, place), [thrower], open.slice(place + 1)]
    queue.unshift(...pieces.filter((piece) => piece.length > 0))
  }
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
