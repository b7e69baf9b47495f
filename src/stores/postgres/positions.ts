import type { Position, Positions } from '../../contracts/index.ts'
import type { Connections } from './connection.ts'
import { prepared, statement } from './statement.ts'
import type { Tables } from './tables.ts'
import type { OpenTransactions } from './transactions/open-transaction.ts'
import { swallowed } from './transactions/swallowed.ts'
import { type Cell, textArray, textIn } from './values-as-text.ts'

export function postgresPositions<Tx>(
  connections: Pick<Connections<Tx>, 'runAlone'>,
  transactions: OpenTransactions<Tx>,
  { positions }: Tables,
): Positions<Tx> {
  const load = statement(
    `SELECT place, next_position, incarnation
     FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS wanted (source, partition, place)
     JOIN ${positions} AS known ON consumer_group = $1::text AND known.source = wanted.source AND known.partition = wanted.partition`,
  )
  // Both halves wait for another transaction's undecided move; the update then checks the current row again.
  const move = prepared(
    'move_positions',
    `WITH given AS MATERIALIZED (
       SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
         WITH ORDINALITY AS given (source, partition, was, was_in, next_position, incarnation, place)),
     moved AS (
       UPDATE ${positions} AS known SET next_position = given.next_position, incarnation = given.incarnation FROM given
       WHERE consumer_group = $1::text AND known.source = given.source AND known.partition = given.partition
         AND known.next_position = given.was AND known.incarnation = given.was_in
       RETURNING place),
     made AS (
       INSERT INTO ${positions} (consumer_group, source, partition, next_position, incarnation)
       SELECT $1::text, source, partition, next_position, incarnation FROM given WHERE was IS NULL ORDER BY place
       ON CONFLICT DO NOTHING RETURNING source, partition)
     SELECT place FROM moved UNION ALL SELECT place FROM made JOIN given USING (source, partition)`,
  )
  return {
    async load(group, partitions) {
      const { rows } = await connections.runAlone(load, [group, ...partitionArrays(partitions)])
      return answers(partitions.length, rows)
    },
    async move(tx, group, moves) {
      const runner = transactions.runner(tx)
      const texts = (pick: (each: (typeof moves)[number]) => string | undefined) => textArray(moves.map(pick))
      const { rows } = await runner.run(move, [
        group,
        ...partitionArrays(moves),
        texts(({ expected }) => expected?.next),
        texts(({ expected }) => expected?.incarnation),
        texts(({ to }) => to.next),
        texts(({ to }) => to.incarnation),
      ])
      if (rows.length === moves.length) return moves.map(() => undefined)
      const moved = new Set(rows.map(([place]) => Number(place)))
      const found = answers(moves.length, (await runner.run(load, [group, ...partitionArrays(moves)])).rows)
      const unmoved = moves.filter(({ expected }, index) => !moved.has(index + 1) && isSame(found[index], expected))
      if (unmoved.length > 0) throw swallowed(`${unmoved.length} positions were not moved`)
      return moves.map((_, index) => (moved.has(index + 1) ? undefined : (found[index] ?? 'none')))
    },
  }
}

/** Whether a position stands where it was expected, and so could have been moved. */
function isSame(found: Position | undefined, expected: Position | undefined): boolean {
  return found?.next === expected?.next && found?.incarnation === expected?.incarnation
}

function partitionArrays(partitions: readonly { readonly source: string; readonly partition: string }[]): string[] {
  return [textArray(partitions.map(({ source }) => source)), textArray(partitions.map(({ partition }) => partition))]
}

function answers(count: number, rows: readonly (readonly Cell[])[]): (Position | undefined)[] {
  const found: (Position | undefined)[] = Array.from({ length: count }, () => undefined)
  for (const [place, next, incarnation] of rows)
    found[Number(place) - 1] = { next: textIn(next), incarnation: textIn(incarnation) }
  return found
}
