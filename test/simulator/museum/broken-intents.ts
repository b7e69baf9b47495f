import type { ParkedChange, Parking } from '../../../src/contracts/index.ts'
import { intentHandler, isIntent } from '../../../src/encoding/intent-name.ts'
import { packMessage, unpackMessage } from '../../../src/encoding/packed-message.ts'
import { uuidv7 } from '../../../src/ids/index.ts'
import { overriding } from '../../../src/testing/overriding.ts'
import type { SimProcess } from '../process.ts'
import { realApp } from '../real-app.ts'
import type { SimTx } from '../store/sim-tx.ts'
import type { Program } from '../world.ts'
import type { Exhibit } from './exhibit.ts'

/** The real engine that calls the outside too often, too early, or keeps quiet about it. */
export const brokenIntents: readonly Exhibit[] = [
  {
    name: 'intent-repeated-after-a-timeout',
    flaw: 'A call that has not answered counts as one that did not happen, and is made again.',
    caughtAs: 'DOUBLED',
    isIntending: true,
    program: parking(({ change }) => ({
      change: (tx, changes) =>
        change(
          tx,
          changes.map((each) => (isForAPerson(each) ? calledAgain(each) : each)),
        ),
    })),
  },
  {
    name: 'intent-repeated-after-a-crash',
    flaw: 'Nobody sees that an attempt has begun: what a dead process may have called is called again.',
    caughtAs: 'DOUBLED',
    isIntending: true,
    program: parking(({ reserve }) => ({
      reserve: async (options) =>
        (await reserve(options)).map((row) => (isIntent(row.handler) ? { ...row, begun: 0 } : row)),
    })),
  },
  {
    name: 'another-key-for-each-attempt',
    flaw: 'A call is repeated under a new idempotency key: the provider takes it for another one.',
    caughtAs: 'DOUBLED',
    isIntending: true,
    program: parking(({ reserve }) => ({
      reserve: async (options) =>
        (await reserve(options)).map((row) =>
          isIntent(row.handler)
            ? { ...row, message: packMessage({ ...unpackMessage(row.message), id: uuidv7() }) }
            : row,
        ),
    })),
  },
  {
    name: 'provider-not-asked',
    flaw: 'A call that the provider could be asked about is repeated without asking.',
    caughtAs: 'DOUBLED',
    isIntending: true,
    program: parking(({ change }) => ({
      change: (tx, changes) =>
        change(
          tx,
          changes.map((each) => (isToBeAsked(each) ? calledAgain(each) : each)),
        ),
    })),
  },
  {
    name: 'intent-called-before-its-commit',
    flaw: 'An intent is stored in a transaction of its own: it is called, although its handler is rolled back.',
    caughtAs: 'DOUBLED',
    isIntending: true,
    program: (environment) =>
      parking(({ park }) => ({
        async park(tx, messages) {
          const intents = messages.filter(({ handler }) => isIntent(handler))
          const others = messages.filter(({ handler }) => !isIntent(handler))
          if (intents.length > 0) await environment.store.transaction((other) => park(other, intents))
          if (others.length > 0) await park(tx, others)
        },
      }))(environment),
  },
  {
    name: 'late-result-overwrites-a-newer-one',
    flaw: 'An attempt that ends late settles its intent, although somebody else is calling it again or has.',
    caughtAs: 'DOUBLED',
    isIntending: true,
    frozenAt: 'prepare-outside',
    program: parking(({ take }) => ({
      take: async (tx, tickets) =>
        tickets.every(({ handler }) => isIntent(handler)) ? tickets.map(() => true) : await take(tx, tickets),
    })),
  },
  {
    name: 'unknown-intent-dropped',
    flaw: 'A call of which nobody knows whether it happened is forgotten instead of shown to a person.',
    caughtAs: 'DROPPED',
    isIntending: true,
    program: parking(({ change }) => ({
      change: (tx, changes) =>
        change(
          tx,
          changes.map((each) =>
            isForAPerson(each) ? { handler: each.handler, key: each.key, kind: 'done' as const } : each,
          ),
        ),
    })),
  },
  {
    name: 'call-after-a-sleep-that-no-clock-has-seen',
    flaw: 'The clocks of a process stand still while it is frozen: when it wakes up it calls what others have called meanwhile.',
    caughtAs: 'DOUBLED',
    isIntending: true,
    frozenAt: 'prepare-outside',
    program: (environment) => realApp({ ...environment, process: sleepless(environment.process) }),
  },
]

function isForAPerson(change: ParkedChange): boolean {
  return isIntent(change.handler) && change.kind === 'dead' && change.reason === 'INTENT_UNKNOWN'
}

function isToBeAsked(change: ParkedChange): boolean {
  return change.handler === intentHandler('probed') && change.kind === 'again' && change.reason === 'INTENT_UNKNOWN'
}

function calledAgain(change: ParkedChange): ParkedChange {
  return { ...change, kind: 'again', delayMs: 0, reason: 'INTENT_FAILED' } as ParkedChange
}

function parking(broken: (real: Parking<SimTx>) => Partial<Parking<SimTx>>): Program {
  return (environment) => {
    const { store } = environment
    realApp({ ...environment, store: { ...store, parking: { ...store.parking, ...broken(store.parking) } } })
  }
}

/** Its clocks leave out every pause that is longer than it ever has nothing to do. */
function sleepless(process: SimProcess): SimProcess {
  const { clock } = process
  let lastMs = clock.monotonicMs()
  let sleptMs = 0
  const monotonicMs = (): number => {
    const nowMs = clock.monotonicMs()
    if (nowMs - lastMs > 3_000) sleptMs += nowMs - lastMs
    lastMs = nowMs
    return nowMs - sleptMs
  }
  const now = (): Date => {
    monotonicMs()
    return new Date(clock.now().getTime() - sleptMs)
  }
  return overriding(process, { clock: { ...clock, monotonicMs, now } })
}
