import type { Parking, Queue, Store, TransactionOptions } from '../../contracts/index.ts'
import { isIntent } from '../../encoding/intent-name.ts'
import { isDelayed } from '../../encoding/outgoing-queue.ts'
import { JustonceError } from '../../errors/index.ts'
import { overriding } from '../overriding.ts'
import { Execution } from './execution.ts'
import type { Gate } from './gate.ts'
import type { Journal } from './journal.ts'
import type { Life } from './life.ts'
import type { Step } from './steps.ts'
import { isMadeByProve, transientError } from './transient-error.ts'
import { watchTx } from './watched/watch-tx.ts'

export interface GatedStore<S extends Store> {
  readonly store: S
  /** The execution whose `tx` this is. */
  executionOf(tx: unknown): Execution | undefined
  /** Resolves when no transaction of the process is open any more, whether the process is dead or alive. */
  settled(): Promise<void>
}

export interface GateParts {
  /** The number of the process. */
  readonly process: number
  readonly gate: Gate
  readonly life: Life
  readonly journal: Journal
}

/** A store whose every step passes through the gate, and which does nothing more once its process is dead. */
export function gatedStore<S extends Store>(store: S, parts: GateParts): GatedStore<S> {
  const { gate, life } = parts
  const inner: Store = store
  const executions = new WeakMap<object, Execution>()
  const natives = new WeakMap<object, unknown>()
  const open = new Set<Promise<unknown>>()
  const native = <Tx>(tx: Tx): Tx => (natives.get(tx as object) ?? tx) as Tx

  const lend: Store['lend'] = (tx, options) => {
    const execution = new Execution({ ...parts, handler: options.borrower })
    atWork.add(native(tx) as object)
    const loan = inner.lend(native(tx), options)
    const watched = watchTx(loan.tx, execution)
    executions.set(watched as object, execution)
    natives.set(watched as object, loan.tx)
    return {
      tx: watched,
      settled: () => loan.settled(),
      end() {
        const report = loan.end()
        return execution.hadError ? { ...report, trouble: 'conflict' } : report
      },
    }
  }

  const replaced: Partial<Store> = {
    transaction(work, options) {
      const running = gatedTransaction(inner, parts, work, options)
      open.add(running)
      running.catch(() => {}).finally(() => open.delete(running))
      // The transaction of a dead process ends, but its result reaches nobody.
      return running.then(
        (value) => (life.isOver ? life.silence() : value),
        (error) => {
          if (life.isOver) return life.silence()
          throw error
        },
      )
    },
    lend,
    within: (tx) => inner.within(native(tx)),
    classify: (error) => (isMadeByProve(error) ? 'conflict' : inner.classify(error)),
    inbox: overriding(inner.inbox, {
      claim: (tx, requests) => {
        atWork.add(tx as object)
        return gate.pass({
          step: { kind: 'claim', text: '' },
          run: () => inner.inbox.claim(tx, requests),
          fail: failing,
        })
      },
    }),
    parking: overriding(inner.parking, gatedParking(inner.parking, parts, native)),
    ...(inner.queue && { queue: gatedQueue(inner.queue, parts, native) }),
  }
  return {
    store: overriding(store, replaced as Partial<S>),
    executionOf: (tx) => executions.get(tx as object),
    async settled() {
      while (open.size > 0) await Promise.allSettled(open)
    },
  }
}

/** Transactions that have claimed something or run a handler. Only their commits are steps. */
const atWork = new WeakSet<object>()

const commit: Step = { kind: 'commit', text: '' }

async function gatedTransaction<T>(
  inner: Store,
  { gate, life }: GateParts,
  work: (tx: unknown) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const signal = options.signal === undefined ? life.signal : AbortSignal.any([options.signal, life.signal])
  let happened: (() => void) | undefined
  let lost = false
  try {
    const value = await inner.transaction(
      async (tx) => {
        // A pooled client may be the same object in a later transaction.
        atWork.delete(tx as object)
        const result = await work(tx)
        if (!atWork.has(tx as object)) return result
        const strike = await gate.begin(commit)
        if (strike?.kind === 'crash-before') return gate.die()
        if (strike?.kind === 'crash-after') happened = () => void gate.dieAfter()
        if (strike?.kind === 'error') throw failedCommit(gate)
        if (strike?.kind === 'answer-lost') {
          lost = true
          if (!strike.happened) throw unknownCommit()
        }
        return result
      },
      { ...options, signal },
    )
    happened?.()
    if (!lost) return value
  } catch (error) {
    if (!life.isOver && !lost) gate.undone()
    if (!lost) throw error
    gate.answerLost(false)
    throw unknownCommit()
  }
  gate.answerLost(true)
  throw unknownCommit()
}

function failedCommit(gate: Gate): Error {
  const error = transientError()
  gate.failed(error)
  return error
}

function unknownCommit(): JustonceError {
  return new JustonceError('COMMIT_UNKNOWN', { message: 'The answer to the commit was lost (by prove()).' })
}

function failing(): never {
  throw transientError()
}

/** Published messages go to queues whose names begin with `>`. Other queues belong to the handlers. */
function gatedQueue(inner: Queue<unknown>, { gate, journal }: GateParts, native: <Tx>(tx: Tx) => Tx): Queue<unknown> {
  const { announce } = inner
  return overriding(inner, {
    remove: (tx, queue, tickets, still) => inner.remove(native(tx), queue, tickets, still),
    ...(announce && { announce: (queue, tx) => announce.call(inner, queue, native(tx)) }),
    send(tx, queue, messages) {
      const run = (): Promise<void> => inner.send(native(tx), queue, messages)
      if (!queue.startsWith('>')) return run()
      journal.used.publishing = true
      return gate.pass({ step: storing, run, fail: failing })
    },
  })
}

const storing: Step = { kind: 'bookkeeping', text: 'store the published messages' }
const storingIntents: Step = { kind: 'bookkeeping', text: 'store the intended calls' }

/** Skips the backoff of retries, so that a proof does not wait for it. Messages that are published with a delay, and intended calls, are parked, too. */
function gatedParking(
  inner: Parking<unknown>,
  { gate, journal }: GateParts,
  native: <Tx>(tx: Tx) => Tx,
): Partial<Parking<unknown>> {
  return {
    park(tx, messages) {
      if (messages.every(({ handler }) => isDelayed(handler))) {
        journal.used.publishing = true
        return gate.pass({ step: storing, run: () => inner.park(native(tx), messages), fail: failing })
      }
      if (messages.every(({ handler }) => isIntent(handler))) {
        journal.used.intending = true
        return gate.pass({ step: storingIntents, run: () => inner.park(native(tx), messages), fail: failing })
      }
      journal.used.parking = true
      return inner.park(
        tx,
        messages.map((message) => ({ ...message, delayMs: 0 })),
      )
    },
    change: (tx, changes) =>
      inner.change(
        tx,
        changes.map((change) => (change.kind === 'again' ? { ...change, delayMs: 0 } : change)),
      ),
  }
}
