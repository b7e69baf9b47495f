import type { Parts } from '../../contracts/index.ts'
import { type Execution, split } from '../batch/executions.ts'
import { failedOutcome, mayRun, type Permits } from '../batch/may-run.ts'
import { RolledBack } from '../batch/rolled-back.ts'
import type { Engine } from '../engine.ts'
import type { Outcomes, Run, RunOutcome, RunProducts } from '../items.ts'
import type { Divided } from './interleaving.ts'
import { mostPartsOn } from './isolation.ts'
import { runHandler } from './run-handler.ts'

/**
 * Runs the calls in the bare transaction, those that interleave first: the first failure rolls all of it back. Handlers that need
 * no transaction can be run without one.
 */
export async function runTogether<Tx>(
  engine: Engine<Tx>,
  tx: Tx | undefined,
  executions: readonly Execution<Tx>[],
  outcomes: Outcomes,
  permits: Permits<Tx>,
): Promise<void> {
  const { chains, inTurn } = engine.interleaving.divide(engine, executions, permits)
  if (chains.length > 0) await mixed(engine, tx, chains, outcomes, permits)
  let isFirst = chains.length === 0
  for (const execution of inTurn) {
    const permitted = toBeRun(engine, execution, outcomes, permits)
    if (permitted === undefined) continue
    try {
      processed(permitted, await runHandler(engine, tx, permitted), outcomes, permits)
    } catch (error) {
      throw rolledBackBy(error, permitted, isFirst)
    }
    isFirst = false
  }
}

/** Runs chains whose calls mix their statements. */
async function mixed<Tx>(
  engine: Engine<Tx>,
  tx: Tx | undefined,
  chains: Divided<Tx>['chains'],
  outcomes: Outcomes,
  permits: Permits<Tx>,
  begins?: (execution: Execution<Tx>) => void,
): Promise<void> {
  await engine.interleaving.run(engine, chains, async (execution) => {
    const permitted = toBeRun(engine, execution, outcomes, permits)
    if (permitted === undefined) return
    begins?.(permitted)
    processed(permitted, await runHandler(engine, tx, permitted, { interleaved: true }), outcomes, permits)
  })
}

function rolledBackBy<Tx>(error: unknown, { runs }: Execution<Tx>, wasAlone: boolean): RolledBack<Tx> {
  const rolledBack = error instanceof RolledBack ? (error as RolledBack<Tx>) : new RolledBack('failure', error, runs)
  rolledBack.wasAlone = wasAlone
  return rolledBack
}

export interface InParts<Tx> {
  readonly parts: Parts<Tx>
  readonly size: number
  /** Whether the last part is seen to be sound before the commit, which costs a round trip. */
  readonly looksBack: boolean
  /** The outcome of a run that failed alongside others: it may have met what one of them left behind. */
  inCompany(run: Run<Tx>, error: unknown): RunOutcome
}

/**
 * Runs the calls in parts of the given size, so that a failure rolls back only its part. The run that failed is left out,
 * and the rest of its part runs again.
 */
export async function runInParts<Tx>(
  engine: Engine<Tx>,
  { parts, size, looksBack, inCompany }: InParts<Tx>,
  tx: Tx,
  executions: readonly Execution<Tx>[],
  outcomes: Outcomes,
  given: Permits<Tx>,
): Promise<void> {
  // A run that has started runs again when its part has failed, even after the time is up: otherwise a batch could end
  // with nothing.
  const begun = new Set<number>()
  const begins = ({ runs }: Execution<Tx>): void => {
    for (const { index } of runs) begun.add(index)
  }
  const permits: Permits<Tx> = { ...given, timeIsUp: (run) => !begun.has(run.index) && given.timeIsUp(run) }
  // What the claim has decided stays decided, however often a part is run.
  const decided: Readonly<Outcomes> = [...outcomes]
  const most = mostPartsOn(engine.store.capabilities)
  const queue = chunks(executions, executions.length < most ? size : Math.max(size, affordableSize(executions, most)))
  const setAside = (error: unknown, thrower?: Execution<Tx>): void => {
    forget(open)
    const [culprit, rest] = leftOut(open, thrower)
    if (culprit !== undefined)
      outcomes[culprit.index] = isFirst ? failedOutcome(engine, culprit, error) : inCompany(culprit, error)
    queue.unshift(...rest)
    open = []
  }
  const forget = (calls: readonly Execution<Tx>[]): void => {
    for (const { runs } of calls) for (const { index } of runs) outcomes[index] = decided[index]
  }
  /** Only now does it show that a handler of the open part swallowed a database error. */
  const refused = (error: unknown): void => {
    if (engine.store.classify(error) !== 'none') throw error
    sent = { answer: started(parts.undo(tx)) }
    setAside(error)
  }
  let open: Execution<Tx>[] = []
  /** What was sent in front of the open part, and is not known to have succeeded. */
  let sent: Sent<Tx> | undefined
  /** No handler was called before the latest call. */
  let isFirst = false
  // A part that was rolled back is open and empty, so the next calls can use it.
  let isEmpty = false
  for (let boundaries = 0; ; ) {
    if (!isEmpty) {
      // If a handler of the last part swallowed a database error, the commit will be refused.
      if (parts.travels === true && !looksBack && boundaries > 0 && queue.length === 0) return
      if (++boundaries > most) throw new RolledBack('failure', new Error('too many parts in one transaction'))
      sent = { answer: started(parts.next(tx)), closes: { calls: open, wasFirst: isFirst } }
      // Nothing follows the last one that would show whether it failed.
      const failed = parts.travels !== true || queue.length === 0 ? await failureOf(sent.answer) : undefined
      if (failed !== undefined) refused(failed.error)
    }
    if (parts.travels !== true) await sent?.answer
    const next = queue.shift()
    if (next === undefined) return
    open = next
    isEmpty = false
    let running: Execution<Tx> | undefined
    try {
      const { chains, inTurn } = engine.interleaving.divide(engine, open, permits)
      if (chains.length > 0) {
        isFirst = false
        await mixed(engine, tx, chains, outcomes, permits, begins)
      }
      for (const execution of inTurn) {
        running = execution
        const permitted = toBeRun(engine, execution, outcomes, permits)
        if (permitted === undefined) continue
        isFirst = begun.size === 0
        begins(permitted)
        processed(permitted, await runHandler(engine, tx, permitted), outcomes, permits)
      }
      await sent?.answer
    } catch (error) {
      const isOfAPart = running === undefined && error instanceof RolledBack && error.reason === 'failure'
      if (error instanceof RolledBack && !isOfAPart) throw rolledBackBy(error, running as Execution<Tx>, isFirst)
      const failed = sent && (await failureOf(sent.answer))
      if (failed === undefined) {
        sent = { answer: started(parts.undo(tx)) }
        setAside(isOfAPart ? error.cause : error, running)
      } else {
        // These calls met a transaction that the part before them had spoilt.
        if (sent?.closes === undefined) throw failed.error
        forget(open)
        queue.unshift(open)
        open = sent.closes.calls
        isFirst = sent.closes.wasFirst
        refused(failed.error)
      }
      isEmpty = true
      continue
    }
    sent = undefined
  }
}

interface Sent<Tx> {
  readonly answer: Promise<void>
  /** The part that it closes; absent if it rolls the open part back. */
  readonly closes?: { readonly calls: Execution<Tx>[]; readonly wasFirst: boolean }
}

/** It is looked at later, if at all. */
function started(sending: Promise<void>): Promise<void> {
  sending.catch(() => {})
  return sending
}

async function failureOf(answer: Promise<void>): Promise<{ readonly error: unknown } | undefined> {
  try {
    await answer
    return undefined
  } catch (error) {
    return { error }
  }
}

/**
 * Which run of a part failed, if known, and which calls must run again. A batch handler is called again with fewer
 * messages. If no handler threw (a swallowed error shows only at the end of a part), the calls run again in smaller
 * parts.
 */
function leftOut<Tx>(
  open: readonly Execution<Tx>[],
  thrower: Execution<Tx> | undefined,
): [Run<Tx> | undefined, Execution<Tx>[][]] {
  const blamed = thrower ?? (open.length === 1 ? open[0] : undefined)
  if (blamed === undefined) return [undefined, open.length === 0 ? [] : split(open)]
  const place = open.indexOf(blamed)
  const [only, another] = blamed.runs
  const again = another === undefined ? [] : split([blamed])
  const pieces = [open.slice(0, place), ...again, open.slice(place + 1)]
  return [another === undefined ? only : undefined, pieces.filter((piece) => piece.length > 0)]
}

function processed<Tx>(
  { handler, runs }: Execution<Tx>,
  products: RunProducts,
  outcomes: Outcomes,
  { wentWell }: Permits<Tx>,
): void {
  wentWell.add(handler.name)
  for (const run of runs) {
    const own = run === runs[0] ? products : { ...products, outgoing: [], afterCommit: [] }
    outcomes[run.index] = { kind: 'processed', products: own }
  }
}

/** The call with those of its runs that may start; `undefined` if none may. */
function toBeRun<Tx>(
  engine: Engine<Tx>,
  execution: Execution<Tx>,
  outcomes: Outcomes,
  permits: Permits<Tx>,
): Execution<Tx> | undefined {
  const runs = execution.runs.filter((run) => mayRun(engine, permits, run, outcomes))
  if (runs.length === execution.runs.length) return execution
  return runs.length === 0 ? undefined : { handler: execution.handler, runs }
}

/**
 * If there are more calls than parts are allowed, half of the parts are reserved for running failed parts again in smaller
 * ones.
 */
function affordableSize(executions: readonly unknown[], most: number): number {
  return Math.ceil(executions.length / (most / 2))
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  if (size >= items.length) return [[...items]]
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))
}
