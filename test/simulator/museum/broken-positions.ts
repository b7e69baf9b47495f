import type { Positions } from '../../../src/contracts/index.ts'
import type { SimTx } from '../store/sim-tx.ts'
import { onStore } from './broken-stores.ts'
import type { Exhibit } from './exhibit.ts'

/** The real engine on a store whose positions do not do what they are for. */
export const brokenPositions: readonly Exhibit[] = [
  {
    name: 'zombies-are-not-fenced',
    flaw: 'A position is stored without being compared: who has lost the partition goes on beside its new owner.',
    caughtAs: 'DOUBLED',
    shape: 'log by position',
    program: onStore((store) => ({
      ...store,
      positions: {
        ...positionsOf(store.positions),
        async move(tx, group, moves) {
          const loaded = await positionsOf(store.positions).load(group, moves)
          const forced = moves.map((move, index) => ({ ...move, expected: loaded[index] }))
          await positionsOf(store.positions).move(tx, group, forced)
          return moves.map(() => undefined)
        },
      },
    })),
  },
  {
    name: 'positions-outside-the-transaction',
    flaw: 'The position is committed by itself, before the effects: a crash in between loses them.',
    caughtAs: 'LOST',
    shape: 'log by position',
    program: onStore((store) => ({
      ...store,
      positions: {
        ...positionsOf(store.positions),
        move: (_, group, moves) => store.transaction((tx) => positionsOf(store.positions).move(tx, group, moves)),
      },
    })),
  },
]

function positionsOf(positions: Positions<SimTx> | undefined): Positions<SimTx> {
  return positions as Positions<SimTx>
}
