import type { LoanReport, Message } from '../../contracts/index.ts'
import { isJustonceError } from '../../errors/index.ts'
import type { Execution } from '../batch/executions.ts'
import { aboutTheMessage } from '../batch/may-run.ts'
import { RolledBack } from '../batch/rolled-back.ts'
import type { Engine } from '../engine.ts'
import type { RunContext } from '../handler.ts'
import { decodeAgain } from '../intake/decode-message.ts'
import { isThenable } from '../is-thenable.ts'
import type { Run, RunProducts } from '../items.ts'
import { callAround } from './around.ts'
import { recordsOf } from './partly-applied.ts'
import { CallProducts } from './run-context.ts'
import { TimeLimit } from './time-limit.ts'

/**
 * Calls a handler within its time limit, with a transaction that is taken back when it settles.
 * Rejects with what the handler threw if rolling back its part is enough, and with `RolledBack` if not: after a timeout, or
 * with calls still open, nobody knows what else the handler will do, and a conflict has cost us the transaction.
 */
export async function runHandler<Tx>(
  engine: Engine<Tx>,
  tx: Tx | undefined,
  execution: Execution<Tx>,
  { interleaved = false }: { readonly interleaved?: boolean } = {},
): Promise<RunProducts> {
  const { handler, runs } = execution
  const first = runs[0] as Run<Tx>
  const { store, clock, events } = engine
  const time = new TimeLimit(clock, first)
  const inProgress = engine.calls.begin(execution, time.beganAt)
  const loan =
    handler.transaction === 'none'
      ? noLoan
      : store.lend(tx as Tx, {
          borrower: handler.name,
          interleaved,
          onLateCall: (error) => events.emit({ kind: 'late-call', handler: handler.name, error }),
          // An atomic store never applies a run partly.
          records: store.guarantee === 'atomic' ? undefined : runs.flatMap(recordsOf),
        })
  const isOfMany = runs.length > 1
  const message = isOfMany ? undefined : first.message
  const isWeak = isRepeatable(engine, first)
  const products = new CallProducts(engine, { handler, key: first.key, isRepeatable: isWeak, isOfMany, message })
  let failed = false
  try {
    const called = call(engine, execution, products.contextFor({ tx: loan.tx, attempt: attemptOf(runs) }, time))
    const value = await (isThenable(called) ? time.within(called) : called)
    // Calls that were sent and not awaited still belong to this handler, and so do the calls that they send in turn:
    // their failures must be seen, and none of them may arrive while the next handler is running.
    for (let open = loan.settled(); open !== undefined || products.isChecking; open = loan.settled())
      await time.within(Promise.all([open, products.checked()]))
    if (time.isUp) throw time.error
    if (products.failure !== undefined) throw products.failure.error
    const { broken, tidied } = loan.end()
    if (broken !== undefined) throw broken
    if (tidied !== undefined) await time.within(tidied)
    const { outgoing, intents, afterCommit } = products
    return { result: handler.keepResult ? encodeResult(value) : undefined, outgoing, intents, afterCommit }
  } catch (thrown) {
    failed = true
    const error = asHandlersOwn(thrown)
    const { trouble, broken, openCalls, tidied } = loan.end()
    // After a failure everything is rolled back anyway.
    tidied?.catch(() => {})
    // If a handler blocks the process and the database stops waiting for it, the database looks unavailable.
    if (time.isUp) throw new RolledBack('culprit', time.error, runs)
    if (trouble === 'unavailable') throw new RolledBack(trouble, broken ?? error, runs)
    if (trouble === 'conflict') throw new RolledBack(trouble, error, runs)
    if (openCalls > 0 || isJustonceError(broken, 'TX_ENDED')) throw new RolledBack('culprit', broken ?? error, runs)
    throw broken ?? error
  } finally {
    products.end()
    time.stop()
    engine.calls.end(inProgress)
    const ms = clock.monotonicMs() - time.beganAt
    events.emit({ kind: 'called', handler: handler.name, messages: runs.length, ms, failed })
  }
}

/** For a handler without a transaction. */
const noLoan = {
  tx: undefined as never,
  settled: () => undefined,
  end: (): LoanReport => ({ openCalls: 0, broken: undefined, trouble: 'none' }),
}

/** Returns what the handler returns if nothing must be awaited first: a promise for every message is not free. */
function call<Tx>(engine: Engine<Tx>, execution: Execution<Tx>, context: RunContext<Tx>): unknown {
  const messages = execution.runs.map((run) => untouchedMessage(engine, run))
  if (engine.around !== undefined || engine.beforeEach !== undefined || messages.some(isThenable)) {
    return callWhenReady(engine, execution, messages, context)
  }
  return callWith(execution, messages as readonly Message[], context)
}

async function callWhenReady<Tx>(
  engine: Engine<Tx>,
  execution: Execution<Tx>,
  given: readonly (Message | Promise<Message>)[],
  context: RunContext<Tx>,
): Promise<unknown> {
  const messages = await Promise.all(given)
  const { around, beforeEach } = engine
  const run = async (): Promise<unknown> => {
    const prepares = beforeEach !== undefined && execution.handler.transaction !== 'none'
    if (prepares) for (const message of messages) await beforeEach(message, context.tx)
    return await callWith(execution, messages, context)
  }
  if (around === undefined) return await run()
  return await callAround(around, { handler: execution.handler.name, messages, attempt: context.attempt }, run)
}

function callWith<Tx>({ handler }: Execution<Tx>, messages: readonly Message[], context: RunContext<Tx>): unknown {
  return handler.call.kind === 'each'
    ? handler.call.run(messages[0] as Message, context)
    : handler.call.run(messages, context)
}

/**
 * A run that may really happen twice must publish under the same ids both times. A batch handler cannot: next time it
 * may be called with other messages, and different content under the same id would be lost.
 */
function isRepeatable<Tx>(engine: Engine<Tx>, { handler }: Run<Tx>): boolean {
  if (handler.call.kind === 'batch') return false
  return handler.delivery === 'at-least-once' || engine.store.guarantee === 'lease'
}

function attemptOf<Tx>(runs: readonly Run<Tx>[]): number {
  let failedBefore = 0
  for (const { owner } of runs) failedBefore = Math.max(failedBefore, owner?.attempts ?? 0)
  return failedBefore + 1
}

/** A handler may change the body it is given. A later run, or another handler, must not see those changes. */
function untouchedMessage<Tx>(engine: Engine<Tx>, run: Run<Tx>): Message | Promise<Message> {
  if (run.handout.wasGiven) return decodeAgain(engine, run)
  run.handout.wasGiven = true
  return run.message
}

/**
 * With these codes the engine reports what only it may conclude about a message (its age, its deaths), and for some of
 * them no claim is kept. Thrown by a handler, for example from its own once(), they are about something else.
 */
function asHandlersOwn(error: unknown): unknown {
  if (!isJustonceError(error) || !aboutTheMessage.has(error.code)) return error
  return new Error(error.message, { cause: error })
}

function encodeResult(value: unknown): string {
  return JSON.stringify(value) ?? 'null'
}
