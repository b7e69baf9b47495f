import type { Position, Positions } from '../../../src/contracts/index.ts'
import { inTransaction, update } from '../database/statements.ts'
import type { SimStoreContext } from './sim-store.ts'
import type { SimClient } from './sim-tx.ts'

const table = 'positions'

export function simPositions(context: SimStoreContext): Positions<SimClient> {
  return {
    load: (group, partitions) =>
      context.read((client) =>
        client.connection.call('load-positions', ({ database }) =>
          partitions.map(({ source, partition }) => {
            const row = database.read(undefined, table, name(group, source, partition))
            return row as unknown as Position | undefined
          }),
        ),
      ),
    move: (client, group, moves) =>
      client.connection.call(
        'move-positions',
        inTransaction(async (tx, session) => {
          const answers: (Position | 'none' | undefined)[] = []
          for (const { source, partition, expected, to } of moves) {
            let answer: Position | 'none' | undefined
            await update(session, tx, table, name(group, source, partition), (row) => {
              const stored = row as unknown as Position | undefined
              const isExpected = stored?.next === expected?.next && stored?.incarnation === expected?.incarnation
              answer = isExpected ? undefined : (stored ?? 'none')
              return isExpected ? { ...to } : row
            })
            answers.push(answer)
          }
          return answers
        }),
      ),
  }
}

function name(group: string, source: string, partition: string): string {
  return JSON.stringify([group, source, partition])
}
