import type { Queue, Store } from '../../../src/contracts/index.ts'
import { inTransaction } from '../database/statements.ts'
import { queueTable } from '../store/queue.ts'
import type { SimClient, SimTx } from '../store/sim-tx.ts'
import { onStore } from './broken-stores.ts'
import type { Exhibit } from './exhibit.ts'

/** The real engine with its queue in a database that breaks one sentence of the contract of queues. */
export const brokenQueues: readonly Exhibit[] = [
  {
    name: 'effects-of-what-is-gone',
    flaw: 'The commit does not ask whether the message is still in its queue: what a restore has taken away takes effect.',
    caughtAs: 'GONE',
    isRestored: true,
    shape: 'database',
    program: onStore((store) => ({
      ...store,
      queue: changed(store, (real) => ({ remove: (tx, queue, tickets) => real.remove(tx, queue, tickets) })),
    })),
  },
  {
    name: 'published-twice-by-a-restore',
    flaw: 'The same: what was published and is held during the restore takes effect beside what is published again.',
    caughtAs: 'DOUBLED',
    isRestored: true,
    shape: 'database',
    program: onStore((store) => ({
      ...store,
      queue: changed(store, (real) => ({ remove: (tx, queue, tickets) => real.remove(tx, queue, tickets) })),
    })),
  },
  {
    name: 'removed-before-the-commit',
    flaw: 'The message leaves its queue in a transaction of its own: whoever dies before the commit has lost it.',
    caughtAs: 'LOST',
    shape: 'database',
    program: onStore((store) => ({
      ...store,
      queue: changed(store, (real) => ({ remove: (_, queue, tickets) => real.remove(undefined, queue, tickets) })),
    })),
  },
  {
    name: 'hidden-by-a-clock-that-jumps',
    flaw: 'What was taken while the clock was ahead is hidden until then: if its holder dies, it comes days late.',
    caughtAs: 'STUCK',
    isJumping: true,
    shape: 'database',
    program: onStore((store) => ({
      ...store,
      queue: changed(store, (real) => ({
        // As if nothing could ever be hidden for too long.
        async take(queue, options) {
          const taken = await real.take(queue, { ...options, visibilityMs: 1e12 })
          await real.hide(queue, taken, options.visibilityMs)
          return taken
        },
      })),
    })),
  },
  {
    name: 'tickets-that-come-back',
    flaw: 'Tickets are the numbers of rows, which a restored database gives again: the wrong message is removed.',
    caughtAs: 'LOST',
    isRestored: true,
    shape: 'database',
    program: onStore((store) => ({ ...store, queue: changed(store, byNumber) })),
  },
]

function changed(
  store: Store<SimTx>,
  change: (real: Queue<SimTx>, store: Store<SimTx>) => Partial<Queue<SimTx>>,
): Queue<SimTx> {
  const real = store.queue as Queue<SimTx>
  return { ...real, ...change(real, store) }
}

/** Calls each row by its number, and finds it again by that. */
function byNumber(real: Queue<SimTx>, { transaction }: Store<SimTx>): Partial<Queue<SimTx>> {
  const found = (tx: SimTx | undefined, numbers: readonly string[]): Promise<readonly string[]> =>
    tx === undefined ? transaction((own) => rowsOf(own, numbers)) : rowsOf(tx, numbers)
  return {
    async take(queue, options) {
      const taken = await real.take(queue, options)
      return taken.map((each) => ({ ...each, ticket: numberOf(each.ticket) }))
    },
    async remove(tx, queue, numbers, still) {
      const isStill = still !== undefined && 'present' in still ? { present: await found(tx, still.present) } : still
      await real.remove(tx, queue, await found(tx, numbers), isStill)
    },
    async hide(queue, taken, visibilityMs, options) {
      const tickets = await found(
        undefined,
        taken.map(({ ticket }) => ticket),
      )
      const rows = taken.map((each, place) => ({ ...each, ticket: tickets[place] ?? each.ticket }))
      await real.hide(queue, rows, visibilityMs, options)
    },
  }
}

/** The tickets of the rows that have these numbers now; of one that nobody has, the number. */
function rowsOf(tx: SimTx, numbers: readonly string[]): Promise<readonly string[]> {
  return (tx as SimClient).connection.call(
    'look',
    inTransaction((transaction, { database }) => {
      const tickets = database.scan(transaction, queueTable).map(({ key }) => [numberOf(key), key] as const)
      const byNumber = new Map(tickets)
      return numbers.map((number) => byNumber.get(number) ?? number)
    }),
  )
}

function numberOf(ticket: string): string {
  return ticket.split('.')[0] ?? ''
}
