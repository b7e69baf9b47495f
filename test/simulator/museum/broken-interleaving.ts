import { RolledBack } from '../../../src/engine/batch/rolled-back.ts'
import { PermanentError } from '../../../src/index.ts'
import { onStore } from './broken-stores.ts'
import type { Exhibit } from './exhibit.ts'
import { onInterleaving } from './mistaken-interleaving.ts'

/** The real engine with one mistake in how it lets messages share a transaction. */
export const brokenInterleaving: readonly Exhibit[] = [
  {
    name: 'a-chain-that-mixes',
    flaw: 'Messages of one key run at the same time as well, and whichever is quicker comes first.',
    caughtAs: 'DISORDER',
    isOneLine: true,
    isInterleaved: true,
    program: onInterleaving({
      divide: ({ executions }) => ({ chains: executions.toReversed().map((each) => [each]), inTurn: [] }),
    }),
  },
  {
    name: 'blame-on-the-wrong-handler',
    flaw: 'When a shared transaction fails, the last message in it is taken for the one that failed, and given up.',
    caughtAs: 'GIVEN UP',
    broughtOutBy: 'throws-once',
    isInterleaved: true,
    program: onInterleaving({
      rolledBackBy({ failures, latest }) {
        const error = new PermanentError('somebody failed', { cause: failures[0]?.error })
        return Object.assign(new RolledBack('failure', error, latest), { wasAlone: true })
      },
    }),
  },
  {
    name: 'a-loan-that-outlives-its-handler',
    flaw: 'As long as others use the transaction, a handler that has settled can go on writing into it.',
    caughtAs: 'DOUBLED',
    broughtOutBy: 'leaves-sibling',
    isInterleaved: true,
    program: onStore((store) => ({
      ...store,
      lend(tx, options) {
        const loan = store.lend(tx, options)
        if (options.interleaved !== true) return loan
        return { ...loan, settled: () => undefined, end: () => ({ openCalls: 0, broken: undefined, trouble: 'none' }) }
      },
    })),
  },
]
