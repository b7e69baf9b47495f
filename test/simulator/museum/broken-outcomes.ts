import { doneType, isIntent } from '../../../src/encoding/intent-name.ts'
import { overriding } from '../../../src/testing/overriding.ts'
import { realApp } from '../real-app.ts'
import type { SimTx } from '../store/sim-tx.ts'
import { onStore } from './broken-stores.ts'
import type { Exhibit } from './exhibit.ts'
import { onRetention, removeRows } from './on-retention.ts'

/** Calls to the outside of which something untrue is said, or nothing. */
export const brokenOutcomes: readonly Exhibit[] = [
  {
    name: 'call-made-in-the-handler',
    flaw: 'The handler calls the provider itself, in the middle of its transaction: the call stays when that is rolled back for good.',
    caughtAs: 'UNCOMMITTED',
    isIntending: true,
    broughtOutBy: 'throws-always',
    program(environment) {
      const { store, way } = environment
      const lend: typeof store.lend = (tx, options) => {
        const loan = store.lend(tx, options)
        const insert: SimTx['insert'] = async (table, key, row) => {
          const of = `${row.message}`
          if (table === 'effects' && row.handler === 'one')
            await way.call({ effect: 'keyed', of, key: of, idempotencyKey: of }, true)
          return await loan.tx.insert(table, key, row)
        }
        return overriding(loan, { tx: overriding(loan.tx, { insert }) })
      }
      realApp({ ...environment, store: { ...store, lend } })
    },
  },
  {
    name: 'call-answered-before-it-is-made',
    flaw: 'Something on the way to the provider answers at once and forgets the call: it counts as done, and never happens.',
    caughtAs: 'UNTRUE',
    isIntending: true,
    program: (environment) => realApp({ ...environment, way: { ...environment.way, call: async () => {} } }),
  },
  {
    name: 'outcome-that-nobody-is-told',
    flaw: 'The message about an outcome is sent after the commit, and lost: the call is done, and the handler that waits for it never runs.',
    caughtAs: 'TOLD',
    isIntending: true,
    program: onStore((store) => ({
      ...store,
      parking: {
        ...store.parking,
        async park(tx, messages) {
          const kept = messages.filter(({ type }) => type !== doneType('keyed'))
          if (kept.length > 0) await store.parking.park(tx, kept)
        },
      },
    })),
  },
  {
    name: 'intents-tidied-away',
    flaw: 'Whenever records are removed, calls that wait go, too: for another attempt, or for a person, who never learns of them.',
    caughtAs: 'DROPPED',
    isIntending: true,
    isRetained: true,
    program: onRetention((retention, { store }) => ({
      ...retention,
      async remove(options) {
        await removeRows(store, 'parked', (_, run) => isIntent(run))
        return await retention.remove(options)
      },
    })),
  },
  {
    name: 'records-of-intents-removed-at-once',
    flaw: 'The record of a call is not kept as long as others, because it has no message: nobody can say what was called today.',
    caughtAs: 'UNRECORDED',
    isIntending: true,
    isRetained: true,
    program: onRetention((retention, { store }) => ({
      ...retention,
      async remove(options) {
        await removeRows(store, 'inbox', ({ state }, run) => isIntent(run) && state === 'processed')
        return await retention.remove(options)
      },
    })),
  },
]
