import type { MessageToQueue, Queue, Store } from '../../../src/contracts/index.ts'
import { isDelayed } from '../../../src/encoding/outgoing-queue.ts'
import { realApp } from '../real-app.ts'
import type { SimTx } from '../store/sim-tx.ts'
import type { Program } from '../world.ts'
import type { Exhibit } from './exhibit.ts'

/** The real engine that moves delayed messages in a way that loses or doubles them. */
export const brokenDelays: readonly Exhibit[] = [
  {
    name: 'delayed-message-forgotten-before-it-is-queued',
    flaw: 'A delayed message is removed in one transaction and put into its queue in another: who dies in between loses it.',
    caughtAs: 'MESSAGES',
    isDelaying: true,
    program: moving(({ store, process }, send) => async (tx, queue, messages, isMoved) => {
      if (!isMoved) return await send(tx, queue, messages)
      process.clock.timer(5, () => void store.transaction((other) => send(other, queue, messages)).catch(() => {}))
    }),
  },
  {
    name: 'delayed-message-queued-before-it-is-forgotten',
    flaw: 'A delayed message is put into its queue in one transaction and removed in another: who dies in between sends it again.',
    caughtAs: 'TWICE',
    isDelaying: true,
    program: moving(({ store }, send) => async (tx, queue, messages, isMoved) => {
      if (!isMoved) return await send(tx, queue, messages)
      await store.transaction((other) => send(other, queue, messages))
    }),
  },
  {
    name: 'delayed-message-moved-by-everybody',
    flaw: 'Nobody looks whether a delayed message is still where it was: two processes that found it both put it into its queue.',
    caughtAs: 'TWICE',
    isDelaying: true,
    frozenAt: 'commit',
    program: (environment) => {
      const { store } = environment
      const take: Store<SimTx>['parking']['take'] = async (tx, tickets) =>
        tickets.every(({ handler }) => isDelayed(handler))
          ? tickets.map(() => true)
          : await store.parking.take(tx, tickets)
      realApp({ ...environment, store: { ...store, parking: { ...store.parking, take } } })
    },
  },
]

type Send = (tx: SimTx, queue: string, messages: readonly MessageToQueue[]) => Promise<void>

/** Does something else with what is put into a queue, and is told whether it was parked before. */
function moving(
  change: (
    environment: Parameters<Program>[0],
    send: Send,
  ) => (...sent: [...Parameters<Send>, isMoved: boolean]) => Promise<void>,
): Program {
  return (environment) => {
    const { store } = environment
    const real = store.queue as Queue<SimTx>
    const movers = new WeakSet<object>()
    const send = change(environment, (tx, queue, messages) => real.send(tx, queue, messages))
    realApp({
      ...environment,
      store: {
        ...store,
        parking: {
          ...store.parking,
          async take(tx, tickets) {
            if (tickets.some(({ handler }) => isDelayed(handler))) movers.add(tx)
            return await store.parking.take(tx, tickets)
          },
        },
        queue: {
          ...real,
          send: (tx, queue, messages) =>
            tx === undefined ? real.send(tx, queue, messages) : send(tx, queue, messages, movers.has(tx)),
        },
      },
    })
  }
}
