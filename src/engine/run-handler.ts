import type { Message, OutgoingMessage } from '../contracts/index.ts'
import { isJustonceError, JustonceError } from '../errors/index.ts'
import { decodeAgain } from './decode-message.ts'
import type { Engine } from './engine.ts'
import type { Execution } from './executions.ts'
import type { RunContext } from './handler.ts'
import { encodeOutgoing, type OrdinalIds } from './outgoing.ts'
import { recordsOf } from './partly-applied.ts'
import { TimeLimit } from './time-limit.ts'
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
  const time = new TimeLimit(
    clock,
    handler.timeoutMs,
    () => `Handler ${handler.name} has not finished message ${first.key} within ${handler.timeoutMs} ms.`,
  )
  let isOver = false
  const refuseLate = (what: string): void => {
    if (!isOver) return
    const error = new JustonceError('TX_CLOSED', {
      message: `Handler ${handler.name} called ${what} after it had settled.`,
    })
    events.emit({ kind: 'late-call', handler: handler.name, error })
    throw error
  }
  const loan = store.lend(tx, {
    borrower: handler.name,
    onLateCall: (error) => events.emit({ kind: 'late-call', handler: handler.name, error }),
    records: runs.flatMap(recordsOf),
  })
  const context: RunContext<Tx> = {
    tx: loan.tx,
    get signal() {
      return time.signal
    },
    async publish(type, body, options) {
      refuseLate('publish()')
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
    afterCommit(work) {
      refuseLate('afterCommit()')
      afterCommit.push(work)
    },
  }
  try {
    const value = await time.within(call(engine, execution, context))
    // What was sent and not awaited still belongs to this handler, and so does what that goes on to send: its failure
    // must not go unseen, and none of it may arrive while the next handler is running.
    while (loan.openCalls() > 0) await time.within(loan.settled())
    if (time.isUp) throw time.error
    const broken = loan.broken()
    if (broken !== undefined) throw broken
    return { result: handler.keepResult ? encodeResult(value) : undefined, outgoing, afterCommit }
  } catch (error) {
    // A database that has given up waiting for a handler that blocks everything looks like one that has gone away.
    if (time.isUp) throw new Undone('culprit', time.error, runs.length === 1 ? first : undefined)
    const trouble = loan.trouble()
    if (trouble === 'unavailable') throw new Undone(trouble, loan.broken() ?? error)
    if (trouble === 'conflict') throw new Undone(trouble, error)
    if (loan.openCalls() > 0 || isJustonceError(loan.broken(), 'TX_ENDED')) {
      throw new Undone('culprit', loan.broken() ?? error, runs.length === 1 ? first : undefined)
    }
    throw loan.broken() ?? error
  } finally {
    isOver = true
    loan.end()
    time.stop()
  }
}

async function call<Tx>(
  engine: Engine<Tx>,
  { handler, runs }: Execution<Tx>,
  context: RunContext<Tx>,
): Promise<unknown> {
  const messages: Message[] = []
  for (const run of runs) {
    const message = untouchedMessage(engine, run)
    messages.push(message instanceof Promise ? await message : message)
  }
  if (engine.beforeEach !== undefined) for (const message of messages) await engine.beforeEach(message, context.tx)
  if (handler.call.kind === 'each') return await handler.call.run(messages[0] as Message, context)
  return await handler.call.run(messages, context)
}

const givenBefore = new WeakSet<Message>()

/** A handler may change the body it is given. It must not meet its own changes when it runs again, nor those of others. */
function untouchedMessage<Tx>(engine: Engine<Tx>, run: Run<Tx>): Message | Promise<Message> {
  if (givenBefore.has(run.message)) return decodeAgain(engine, run)
  givenBefore.add(run.message)
  return run.message
}

/**
 * A run that may really happen twice must send under the same ids both times. A batch handler cannot: next time other
 * messages may be with it, and a second content under the same id would be lost.
 */
function isRepeatable<Tx>(engine: Engine<Tx>, { handler }: Run<Tx>): boolean {
  if (handler.call.kind === 'batch') return false
  return handler.delivery === 'at-least-once' || engine.store.guarantee === 'lease'
}

function encodeResult(value: unknown): string {
  return JSON.stringify(value) ?? 'null'
}
