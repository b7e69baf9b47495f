import { overriding } from '../../../src/testing/overriding.ts'
import { onStore } from './broken-stores.ts'
import type { Exhibit } from './exhibit.ts'

/** Records and effects that do not belong together. */
export const brokenRecords: readonly Exhibit[] = [
  {
    name: 'parked-and-recorded-as-processed',
    flaw: 'When a message is parked nobody changes its record: who forgets or audits by records takes it for done.',
    caughtAs: 'UNRECORDED',
    broughtOutBy: 'throws-always',
    program: onStore((store) => ({
      ...store,
      inbox: {
        ...store.inbox,
        update: (tx, changes) =>
          store.inbox.update(
            tx,
            changes.filter(({ state }) => state !== 'parked'),
          ),
      },
    })),
  },
  {
    name: 'loose-handler-that-is-not-parked',
    flaw: 'A handler without a record is not parked when it fails, because nothing says that it is not done: it never runs again.',
    caughtAs: 'LOST',
    isLoose: true,
    broughtOutBy: 'throws-once',
    program: onStore((store) => ({
      ...store,
      parking: {
        ...store.parking,
        park: (tx, messages) =>
          store.parking.park(
            tx,
            messages.filter(({ handler }) => handler !== 'first'),
          ),
      },
    })),
  },
  {
    name: 'half-of-the-effect-on-another-connection',
    flaw: 'One of the writes of a handler goes through a connection of its own: it stays when the others are rolled back.',
    caughtAs: 'TORN',
    broughtOutBy: 'throws-once',
    program: onStore((store) => ({
      ...store,
      lend: (tx, options) => {
        const loan = store.lend(tx, options)
        return overriding(loan, {
          tx: overriding(loan.tx, {
            update: (table, key, change) => store.transaction((other) => other.update(table, key, change)),
          }),
        })
      },
    })),
  },
]
