import type { Position, Positions } from '../../contracts/index.ts'
import type { Reader } from './reader.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import type { Statements } from './statements.ts'
import { swallowed } from './swallowed.ts'
import { statementsIn } from './transactions.ts'

const selectOne = `SELECT next_position AS next, incarnation FROM main.justonce_positions WHERE consumer_group = ? AND source = ? AND partition = ?`
const setOne = `INSERT INTO main.justonce_positions (consumer_group, source, partition, next_position, incarnation) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET next_position = excluded.next_position, incarnation = excluded.incarnation`

/** A move already holds the write lock, so a read is as good as a compare-and-set. */
export function sqlitePositions<Database extends SqliteDatabase>(reader: Reader): Positions<Database> {
  return {
    load: (group, partitions) =>
      reader.read((statements) =>
        partitions.map(({ source, partition }) => storedIn(statements, group, source, partition)),
      ),
    async move(tx, group, moves) {
      const statements = statementsIn(tx)
      return moves.map(({ source, partition, expected, to }) => {
        const stored = storedIn(statements, group, source, partition)
        if (stored?.next !== expected?.next || stored?.incarnation !== expected?.incarnation) return stored ?? 'none'
        if (statements.run(setOne, group, source, partition, to.next, to.incarnation) === 0)
          throw swallowed('a position was not moved', 'justonce_positions')
        return undefined
      })
    },
  }
}

function storedIn(statements: Statements, group: string, source: string, partition: string): Position | undefined {
  const row = statements.get<Position>(selectOne, group, source, partition)
  return row && { next: row.next, incarnation: row.incarnation }
}
