import type { OutgoingMessage } from '../contracts/index.ts'
import { isJustonceError, JustonceError } from '../errors/index.ts'
import type { Engine } from './engine.ts'
import type { Execution } from './executions.ts'
import type { RunContext } from './handler.ts'
import { encodeOutgoing, type OrdinalIds } from './outgoing.ts'
import { Undone } from './undone.ts'
import type { Run, RunProducts } from './work.ts'

/**
 * Calls a handler with a transaction that is taken back when it settles, within its time.
 * Rejects with what the handler threw when a rollback of its part is enough, and with `Undone` when it is not: after a
 * timeout or with calls still open nobody knows what else the handler will do, and a conflict has cost us the transaction.
 */
export async function runHandler<Tx>(engine: Engine<Tx>, tx: Tx, execution: Execution<Tx>): Promise<RunProducts> {
  const { handler, runs } = execution
  const first = runs[0] as Run<Tx>
  const { store, clock, events } = engine
  const outgoing: OutgoingMessage[] = []
  const afterCommit: (() => unknown)[] = []
  const ids: OrdinalIds = new Map()
  const time = timeLimit(engine, execution)
  const loan = store.lend(tx, {
    borrower: handler.name,
    onLateCall: (error) => events.emit({ kind: 'late-call', handler: handler.name, error }),
  })
  const context: RunContext<Tx> = {
    tx: loan.tx,
    get signal() {
      return time.signal
    },
    async publish(type, body, options) {
      // Encoded here and now, so that a body that cannot be encoded is this handler's failure and nobody else's.
      const message = encodeOutgoing({
        type,
        body,
        options,
        cause: first,
        ids,
        weak: isRepeatable(engine, first),
        now: clock.now(),
      })
      outgoing.push(message)
      return message.id
    },
    afterCommit: (work) => void afterCommit.push(work),
  }
  try {
    const value = await Promise.race([call(engine, execution, context), time.up])
    // What was sent and not awaited still belongs to this handler: its failure must not go unseen.
    if (loan.openCalls() > 0) await Promise.race([loan.settled(), time.up])
    const broken = loan.broken()
    if (broken !== undefined) throw broken
    return { result: handler.keepResult ? encodeResult(value) : undefined, outgoing, afterCommit }
  } catch (error) {
    const trouble = loan.trouble()
    if (trouble !== 'none') throw new Undone(trouble, error)
    if (error === time.error || loan.openCalls() > 0 || isJustonceError(loan.broken(), 'TX_ENDED')) {
      throw new Undone('culprit', loan.broken() ?? error, runs.length === 1 ? first : undefined)
    }
    throw loan.broken() ?? error
  } finally {
    loan.end()
    time.stop()
  }
}

async function call<Tx>(
  engine: Engine<Tx>,
  { handler, runs }: Execution<Tx>,
  context: RunContext<Tx>,
): Promise<unknown> {
  if (engine.beforeEach !== undefined) for (const run of runs) await engine.beforeEach(run.message, context.tx)
  if (handler.call.kind === 'each') return await handler.call.run((runs[0] as Run<Tx>).message, context)
  return await handler.call.run(
    runs.map((run) => run.message),
    context,
  )
}

interface TimeLimit {
  readonly signal: AbortSignal
  readonly up: Promise<never>
  readonly error: JustonceError | undefined
  stop(): void
}

function timeLimit<Tx>(engine: Engine<Tx>, { handler, runs }: Execution<Tx>): TimeLimit {
  // Made only when a handler asks for it: most do not, and it is not free.
  let abort: AbortController | undefined
  let error: JustonceError | undefined
  const { promise: up, reject } = Promise.withResolvers<never>()
  up.catch(() => {})
  const timer = engine.clock.timer(handler.timeoutMs, () => {
    error = new JustonceError('HANDLER_TIMEOUT', {
      message: `Handler ${handler.name} has not finished message ${runs[0]?.key} within ${handler.timeoutMs} ms.`,
    })
    abort?.abort(error)
    reject(error)
  })
  return {
    up,
    get signal() {
      abort ??= new AbortController()
      if (error !== undefined) abort.abort(error)
      return abort.signal
    },
    get error() {
      return error
    },
    stop: () => timer.cancel(),
  }
}

/** A run that may really happen twice must send under the same ids both times. */
function isRepeatable<Tx>(engine: Engine<Tx>, run: Run<Tx>): boolean {
  return run.handler.delivery === 'at-least-once' || engine.store.guarantee === 'lease'
}

function encodeResult(value: unknown): string {
  return JSON.stringify(value) ?? 'null'
}
