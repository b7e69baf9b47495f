import type { Partition, Position, Positions } from '../../contracts/index.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import { duplicateKey, errorNumber } from './errors.ts'
import { bytes, type Cell, textIn } from './literals-and-cells.ts'
import type { OpenTransactions } from './open-transaction.ts'
import { provisionalMove } from './provisional.ts'
import type { Runner } from './runner.ts'
import type { ShortTransactions } from './short-transactions.ts'
import { givenRows, handlerValue, textValue } from './statement-parts.ts'
import type { Tables } from './tables.ts'

export function mysqlPositions<Native extends MysqlConnectionShape>(
  short: ShortTransactions<Native>,
  transactions: OpenTransactions<Native>,
  tables: Tables,
): Positions<Native> {
  const { positions: table } = tables
  const stored = (group: string, partitions: readonly Partition[]) => {
    const rows = partitions.map(({ source, partition }) => [bytes(source), bytes(partition)])
    return `SELECT known.source, known.\`partition\`, known.next_position, known.incarnation
      FROM ${givenRows(['source', '`partition`'], rows)} STRAIGHT_JOIN ${table} AS known FORCE INDEX (PRIMARY)
        ON known.consumer_group = ${bytes(group)} AND known.source = given.source AND known.\`partition\` = given.\`partition\``
  }
  const lock = async (runner: Runner, group: string, partitions: readonly Partition[]) =>
    positionsIn((await runner.run(`${stored(group, partitions)} FOR UPDATE`)).rows)

  /** `false` if another process has created the row in the meantime. */
  async function insert(runner: Runner, group: string, partition: Partition, to: Position): Promise<boolean> {
    const place = `${handlerValue(group)}, ${textValue(partition.source)}, ${textValue(partition.partition)}`
    try {
      await runner.run(
        `INSERT INTO ${table} (consumer_group, source, \`partition\`, next_position, incarnation)
         VALUES (${place}, ${bytes(to.next)}, ${bytes(to.incarnation)})`,
      )
      return true
    } catch (error) {
      if (errorNumber(error) === duplicateKey) return false
      throw error
    }
  }

  return {
    async load(group, partitions) {
      if (partitions.length === 0) return []
      const found = positionsIn(await short.read(stored(group, partitions)))
      return partitions.map((partition) => found.get(nameOf(partition)))
    },
    async move(tx, group, moves) {
      const runner = transactions.get(tx)
      const answers: (Position | 'none' | undefined)[] = []
      const held = moves.length === 0 ? new Map<string, Position>() : await lock(runner, group, moves)
      for (const move of moves) {
        const { expected, to, ...partition } = move
        let found = held.get(nameOf(partition))
        if (found === undefined && expected === undefined) {
          if (await insert(runner, group, partition, to)) {
            runner.provisional(provisionalMove(tables, group, move))
            answers.push(undefined)
            continue
          }
          found = (await lock(runner, group, [partition])).get(nameOf(partition))
        }
        if (found === undefined || !isSame(found, expected)) {
          answers.push(found ?? 'none')
          continue
        }
        await runner.run(
          `UPDATE ${table} SET next_position = ${bytes(to.next)}, incarnation = ${bytes(to.incarnation)}
           WHERE consumer_group = ${bytes(group)} AND source = ${bytes(partition.source)} AND \`partition\` = ${bytes(partition.partition)}`,
        )
        runner.provisional(provisionalMove(tables, group, move))
        answers.push(undefined)
      }
      return answers
    },
  }
}

function isSame(found: Position, expected: Position | undefined): boolean {
  return expected !== undefined && found.next === expected.next && found.incarnation === expected.incarnation
}

function nameOf({ source, partition }: Partition): string {
  return JSON.stringify([source, partition])
}

function positionsIn(rows: readonly (readonly Cell[])[]): Map<string, Position> {
  return new Map(
    rows.map(([source, partition, next, incarnation]) => [
      nameOf({ source: textIn(source), partition: textIn(partition) }),
      { next: textIn(next), incarnation: textIn(incarnation) },
    ]),
  )
}
