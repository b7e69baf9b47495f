import type {
  InboxRecord,
  Loan,
  MessageToQueue,
  Parts,
  Queue,
  RecordChange,
  Store,
  TransactionOptions,
} from '../../../src/contracts/index.ts'
import { SimError } from '../database/sim-error.ts'
import { inTransaction, rollbackTo, update } from '../database/statements.ts'
import { realApp } from '../real-app.ts'
import type { SimClient, SimTx } from '../store/sim-tx.ts'
import type { Program } from '../world.ts'
import type { Exhibit } from './exhibit.ts'

/** The real engine on a store that breaks one sentence of its contract. */
export const brokenStores: readonly Exhibit[] = [
  {
    name: 'claim-deleted-on-failure',
    flaw: 'A waiting duplicate gets the claim of the failed message and runs it, while the parked row runs it too.',
    caughtAs: 'DOUBLED',
    broughtOutBy: 'throws-once',
    program: onStore((store) => ({
      ...store,
      inbox: {
        ...store.inbox,
        async update(tx, changes) {
          const failed = changes.filter(({ state }) => state === 'parked')
          if (failed.length > 0)
            await store.inbox.update(
              tx,
              failed.map(({ handler, key, born }) => ({ handler, key, born, state: 'unclaimed' })),
            )
          const rest: RecordChange[] = changes.filter(({ state }) => state !== 'parked')
          if (rest.length > 0) await store.inbox.update(tx, rest)
        },
      },
    })),
  },
  {
    name: 'relays-share-a-key',
    flaw: 'While one relay is sending a message of a key, or cannot, another sends the next one of it.',
    caughtAs: 'OVERTAKEN',
    isOneLine: true,
    frozenAt: 'publish',
    program: onStore((store) => ({
      ...store,
      queue: publishing(store, (tx, queue, messages) =>
        queueOf(store).send(
          tx,
          queue,
          messages.map(({ message }) => ({ message, key: undefined })),
        ),
      ),
    })),
  },
  {
    name: 'forgotten-savepoint',
    flaw: 'What a failed handler wrote stays in the batch and commits; its retry writes it again.',
    caughtAs: 'DOUBLED',
    broughtOutBy: 'throws-once',
    program: onStore((store) => ({ ...store, parts: { next: async () => {}, undo: async () => {} } })),
  },
  {
    name: 'rollback-overtaken-by-the-commit',
    flaw: 'Nobody waits for the rollback of a part, it is sent late, and the commit does not ask whether it was carried out.',
    caughtAs: 'DOUBLED',
    broughtOutBy: 'throws-once',
    program: (environment) => {
      const { store, process } = environment
      const sendsLate: Parts<SimTx> = {
        ...(store.parts as Parts<SimTx>),
        async undo(tx) {
          const { connection, part } = tx as SimClient
          await process.clock.sleep(5)
          await connection.call('undo', rollbackTo(`part ${part}`))
        },
      }
      realApp({ ...environment, store: { ...store, parts: sendsLate } })
    },
  },
  {
    name: 'loan-never-ends',
    flaw: 'What a handler leaves running writes into the transaction of its neighbours.',
    caughtAs: 'DOUBLED',
    broughtOutBy: 'leaves-sibling',
    program: onStore((store) => ({
      ...store,
      lend: (tx): Loan<SimTx> => ({
        tx,
        settled: () => undefined,
        end: () => ({ openCalls: 0, broken: undefined, trouble: 'none' }),
      }),
    })),
  },
  {
    name: 'unsealed-transaction',
    flaw: "A handler that commits by itself makes its neighbours' claims durable before they have run, and goes on writing.",
    caughtAs: 'ESCAPED',
    broughtOutBy: 'commits',
    program: onStore((store) => ({
      ...store,
      transaction: (work, options) =>
        store.transaction(async (tx) => {
          await unseal(tx)
          return await work(tx)
        }, options),
    })),
  },
  {
    name: 'commit-answer-ignored',
    flaw: 'A commit that the database answered with a rollback is taken for a success and acknowledged.',
    caughtAs: 'LOST',
    broughtOutBy: 'swallows',
    program: onStore((store) => ({
      ...store,
      // Nothing is written after the handlers: the commit alone could tell.
      queue: publishing(store, async () => {}),
      async transaction<T>(
        work: (tx: SimTx) => Promise<T>,
        options?: Parameters<typeof store.transaction>[1],
      ): Promise<T> {
        let value: T | undefined
        try {
          return await store.transaction(async (tx) => {
            value = await work(tx)
            return value
          }, options)
        } catch (error) {
          if (value === undefined) throw error
          return value
        }
      },
    })),
  },
  {
    name: 'opening-answer-ignored',
    flaw: 'After an opening that the server has refused every statement commits by itself: records without effects.',
    caughtAs: 'LOST',
    isRefused: true,
    program: onStore((store) => ({ ...store, transaction: goingOnWhenRefused(store) })),
  },
  {
    name: 'cleanup-that-forgets-parked-messages',
    flaw: 'The record of a message that waits for its retry is removed by its age: a late copy runs, and the retry too.',
    caughtAs: 'DOUBLED',
    broughtOutBy: 'throws-once',
    program: (environment) => {
      realApp(environment)
      forgetParked(environment)
    },
  },
  {
    name: 'claim-does-not-wait',
    flaw: 'A rival who should wait for the undecided claim gets the answer that it is the first.',
    caughtAs: 'DOUBLED',
    program: onStore((store) => ({
      ...store,
      inbox: {
        ...store.inbox,
        async claim(tx, requests) {
          const existing: (InboxRecord | undefined)[] = []
          for (const { handler, key, fingerprint } of requests) {
            const row = await tx.get('inbox', `${handler}|${key}`)
            existing.push(row as unknown as InboxRecord | undefined)
            if (row === undefined)
              await tx.insert('inbox', `${handler}|${key}|${Math.random()}`, { state: 'processed', fingerprint })
          }
          return { epoch: '0', existing }
        },
      },
    })),
  },
]

/** Removes old records by age alone, every two seconds. */
function forgetParked(environment: Parameters<Program>[0]): void {
  const cleanUp = async () => {
    await environment.store.transaction((tx) =>
      (tx as SimClient).connection.call(
        'clean-up',
        inTransaction(async (transaction, session) => {
          for (const { key, row } of session.database.scan(transaction, 'inbox')) {
            if (row.state === 'parked') await update(session, transaction, 'inbox', key, () => undefined)
          }
        }),
      ),
    )
  }
  const loop = () =>
    void cleanUp()
      .catch(() => {})
      .finally(() => environment.process.clock.timer(2_000, loop))
  loop()
}

/** Where the opening is refused it does its work all the same, on a connection without a transaction. */
function goingOnWhenRefused(store: Store<SimTx>): Store<SimTx>['transaction'] {
  return async <T>(work: (tx: SimTx) => Promise<T>, options?: TransactionOptions): Promise<T> => {
    let done: { readonly value: T } | undefined
    try {
      return await store.transaction(work, options)
    } catch (error) {
      if (!(error instanceof SimError && error.code === 'refused')) throw error
    }
    try {
      await store.transaction(async (tx) => {
        await tx.rollback()
        done = { value: await work(tx) }
      }, options)
    } catch (error) {
      // The commit finds no transaction, of which a server only warns.
      if (done === undefined) throw error
    }
    return (done as { readonly value: T }).value
  }
}

/** A queue that does something else with what is published, and with nothing but that. */
function publishing(
  store: Store<SimTx>,
  send: (tx: SimTx | undefined, queue: string, messages: readonly MessageToQueue[]) => Promise<void>,
): Queue<SimTx> {
  const real = queueOf(store)
  return {
    ...real,
    send: (tx, queue, messages) => (queue.startsWith('>') ? send : real.send)(tx, queue, messages),
  }
}

function queueOf(store: Store<SimTx>): Queue<SimTx> {
  return store.queue as Queue<SimTx>
}

/** The real engine on a store that was changed. */
export function onStore(breakIt: (store: Store<SimTx>) => Store<SimTx>): Program {
  return (environment) => realApp({ ...environment, store: breakIt(environment.store) })
}

async function unseal(tx: SimTx): Promise<void> {
  await (tx as SimClient).connection.call('unseal', (session) => {
    if (session.transaction !== undefined) session.transaction.sealed = false
  })
}
