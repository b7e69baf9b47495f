import type { Queue } from '../../src/contracts/index.ts'
import { bindBrokenStores, queue } from './break-store.ts'

interface Listener {
  readonly queue: string
  wake(): void
}

/** Of all processes. A listener of a case that is over hears nobody any more. */
const listeners = new Set<Listener>()

function wake(queue: string): void {
  for (const listener of listeners) if (listener.queue === queue) listener.wake()
}

/** Wakes nobody but by `announce`, so that the cases depend on it. */
const listen: NonNullable<Queue<unknown>['listen']> = async (name, wake) => {
  const listener = { queue: name, wake }
  listeners.add(listener)
  return async () => void listeners.delete(listener)
}

bindBrokenStores([
  {
    name: 'wakes listeners that have stopped',
    caught: 'queue: a listener hears of what another process has sent, until it stops',
    break: queue(() => ({
      async listen(name, wake) {
        await listen(name, wake)
        return async () => {}
      },
      announce: async (name) => wake(name),
    })),
  },
  {
    name: 'wakes listeners before the commit',
    caught: 'queue: what is announced inside a transaction wakes listeners when it commits, and not before',
    break: queue(() => ({ listen, announce: async (name) => wake(name) })),
  },
  {
    name: 'forgets what was announced inside a transaction',
    caught: 'queue: what is announced inside a transaction wakes listeners when it commits, and not before',
    break: queue(() => ({
      listen,
      async announce(name, tx) {
        if (tx === undefined) wake(name)
      },
    })),
  },
  {
    name: 'wakes listeners although the transaction was undone',
    caught: 'queue: what is announced inside a transaction that is rolled back wakes nobody',
    break: (store) => {
      const announced = new Set<string>()
      return {
        ...queue(() => ({ listen, announce: async (name) => void announced.add(name) }))(store),
        async transaction(work, options) {
          try {
            return await store.transaction(work, options)
          } finally {
            for (const name of announced) wake(name)
          }
        },
      }
    },
  },
])
