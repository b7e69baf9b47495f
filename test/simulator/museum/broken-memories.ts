import type { SimClient } from '../store/sim-tx.ts'
import { onStore } from './broken-stores.ts'
import type { Exhibit } from './exhibit.ts'
import { onRetention } from './on-retention.ts'

/** The real engine on a store that does not say that records are gone, or where they are. */
export const brokenMemories: readonly Exhibit[] = [
  {
    name: 'cache-survives-a-restore',
    flaw: 'The epoch is a row, which comes back with the backup: caches answer for commits that the database has lost.',
    caughtAs: 'LOST',
    isRestored: true,
    program: onStore((store) => ({
      ...store,
      inbox: {
        ...store.inbox,
        async claim(tx, requests) {
          const answer = await store.inbox.claim(tx, requests)
          return { ...answer, epoch: answer.epoch.split('.')[0] ?? '' }
        },
      },
    })),
  },
  {
    name: 'session-as-others-left-it',
    flaw: 'A transaction goes on where the last user of its connection was: records and effects are written somewhere else.',
    caughtAs: 'LOST',
    isMeddled: true,
    program: onStore((store) => ({
      ...store,
      transaction: (work, options) =>
        store.transaction(async (tx, lastWrites) => {
          await (tx as SimClient).connection.call('query', ({ transaction, left }) => {
            if (transaction !== undefined) transaction.place = left
          })
          return await work(tx, lastWrites)
        }, options),
    })),
  },
  {
    name: 'horizon-by-a-clock-that-jumps',
    flaw: 'The horizon follows the clock of the database at once: after a moment in another year, everything is too old.',
    caughtAs: 'HORIZON',
    isJumping: true,
    program: onRetention((retention) => ({
      ...retention,
      raise: (keepMs) => retention.raise(keepMs, new Date('2999-01-01')),
    })),
  },
]
