import type { Position, Positions } from '../../contracts/index.ts'
import { type MemoryTx, transactionOf } from './memory-tx.ts'
import type { Transactions } from './transactions.ts'

export function memoryPositions(transactions: Transactions): Positions<MemoryTx> {
  return {
    load: (group, partitions) =>
      transactions.read(({ positions }) =>
        partitions.map(({ source, partition }) => positions.committed(rowName(group, source, partition))),
      ),
    async move(tx, group, moves) {
      const { positions } = transactionOf(tx).database
      return moves.map(({ source, partition, expected, to }) => {
        const name = rowName(group, source, partition)
        const stored = positions.get(name)
        if (!isSame(stored, expected)) return stored ?? 'none'
        positions.set(name, { ...to })
        return undefined
      })
    },
  }
}

function isSame(a: Position | undefined, b: Position | undefined): boolean {
  return a?.next === b?.next && a?.incarnation === b?.incarnation
}

function rowName(group: string, source: string, partition: string): string {
  return JSON.stringify([group, source, partition])
}
