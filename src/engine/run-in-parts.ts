import type { Parts } from '../contracts/index.ts'
import { withCallTimer } from './call-timer.ts'
import type { Engine } from './engine.ts'
import { type Execution, split } from './executions.ts'
import { mostPartsOn } from './isolation.ts'
import { failedOutcome, mayRun, type Permits } from './may-run.ts'
import { runHandler } from './run-handler.ts'
import { Undone } from './undone.ts'
import type { Outcomes, Run, RunProducts } from './work.ts'

/** Runs them one after the other in the bare transaction: the first failure undoes all of it. */
export async function runTogether<Tx>(
  engine: Engine<Tx>,
  tx: Tx,
  executions: readonly Execution<Tx>[],
  outcomes: Outcomes<Tx>,
  permits: Permits<Tx>,
): Promise<void> {
  await withCallTimer(engine.clock, async (timer) => {
    for (const execution of executions) {
      const permitted = toBeRun(engine, execution, outcomes, permits)
      if (permitted === undefined) continue
      try {
        processed(engine, permitted, await runHandler(engine, tx, permitted, timer), outcomes)
      } catch (error) {
        throw error instanceof Undone ? error : new Undone('failure', error)
      }
    }
  })
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
  const most = mostPartsOn(engine.store.capabilities)
  const queue = chunks(executions, executions.length < most ? size : Math.max(size, affordableSize(executions, most)))
  const setAside = (error: unknown, thrower?: Execution<Tx>): void => {
    for (const { runs } of open) for (const run of runs) if (!decided.has(run)) outcomes.delete(run)
    failedTogether(engine, { open, thrower, error }, outcomes, queue)
    open = []
  }
  let open: Execution<Tx>[] = []
  await withCallTimer(engine.clock, async (timer) => {
    // A part that was undone is open and empty, and the next calls can have it.
    let isEmpty = false
    for (let boundaries = 0; ; ) {
      if (!isEmpty) {
        if (++boundaries > most) throw new Undone('failure', new Error('too many parts in one transaction'))
        try {
          await parts.next(tx)
        } catch (error) {
          if (engine.store.classify(error) !== 'none') throw error
          // Only now does it show that a handler of the open part has swallowed a database error.
          await parts.undo(tx)
          setAside(error)
        }
      }
      const next = queue.shift()
      if (next === undefined) return
      open = next
      isEmpty = false
      let running: Execution<Tx> | undefined
      try {
        for (const execution of open) {
          running = execution
          const permitted = toBeRun(engine, execution, outcomes, permits)
          if (permitted === undefined) continue
          for (const run of permitted.runs) begun.add(run)
          processed(engine, permitted, await runHandler(engine, tx, permitted, timer), outcomes)
        }
      } catch (error) {
        if (error instanceof Undone) throw error
        await parts.undo(tx)
        setAside(error, running)
        isEmpty = true
      }
    }
  })
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

function processed<Tx>(
  engine: Engine<Tx>,
  { handler, runs }: Execution<Tx>,
  products: RunProducts,
  outcomes: Outcomes<Tx>,
): void {
  engine.breakers.succeeded(handler)
  for (const run of runs) {
    const own = run === runs[0] ? products : { ...products, outgoing: [], afterCommit: [] }
    outcomes.set(run, { kind: 'processed', products: own })
  }
}

/** The call with those of its runs that may start; undefined: none may. */
function toBeRun<Tx>(
  engine: Engine<Tx>,
  execution: Execution<Tx>,
  outcomes: Outcomes<Tx>,
  permits: Permits<Tx>,
): Execution<Tx> | undefined {
  const runs = execution.runs.filter((run) => mayRun(engine, permits, run, outcomes))
  if (runs.length === execution.runs.length) return execution
  return runs.length === 0 ? undefined : { handler: execution.handler, runs }
}

/** Where there are more than there may be parts, half of the parts are kept for running failed ones again in smaller ones. */
function affordableSize(executions: readonly unknown[], most: number): number {
  return Math.ceil(executions.length / (most / 2))
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  if (size >= items.length) return [[...items]]
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))
}
