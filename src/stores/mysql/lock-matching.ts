import type { ParkedFilter, RecordKey } from '../../contracts/index.ts'
import { conditionOf } from '../sql/parked-letters.ts'
import { dialect, place } from './dialect.ts'
import { type Cell, integer, textIn } from './literals-and-cells.ts'
import type { Runner } from './runner.ts'
import { foundByValue, inGroups } from './statement-parts.ts'

export interface LockedRow extends RecordKey {
  readonly sequence: string
}

/**
 * Locks the parked rows that match, the oldest first, except those that others hold. A statement that looks for rows and locks them
 * locks every row that it reads, if only for a moment, and whoever comes by in that moment takes the row for one that is held: a delayed
 * message was not cancelled. So this looks without locks, and locks what it has found.
 */
export async function lockMatching(
  runner: Runner,
  parked: string,
  filter: ParkedFilter,
  limit: number,
): Promise<readonly LockedRow[]> {
  const condition = conditionOf(dialect, filter, place)
  if (filter.messageId !== undefined) return await lockById(runner, parked, condition, limit)
  const locked: LockedRow[] = []
  for (let after: number | undefined = 0; after !== undefined && locked.length < limit; ) {
    const wanted = limit - locked.length
    const { rows } = await runner.run(
      `SELECT sequence FROM ${parked} WHERE ${condition} AND sequence > ${integer(after)}
       ORDER BY sequence LIMIT ${integer(wanted)}`,
    )
    const sequences = rows.map(([sequence]) => textIn(sequence))
    for (const group of inGroups(sequences)) {
      const found = await runner.run(
        `SELECT sequence, handler, \`key\` FROM ${foundByValue(parked, 'sequence', group)} WHERE ${condition}
         ORDER BY sequence FOR UPDATE SKIP LOCKED`,
      )
      locked.push(...found.rows.map(rowIn))
    }
    after = rows.length < wanted ? undefined : Number(sequences.at(-1))
  }
  return locked
}

/**
 * Reads nothing but rows of this id, whatever the planner thinks of sorting: who cancels one must not read all that wait. And it
 * reads them as they are now, because a caller who cancels in a transaction of its own may have an old snapshot.
 */
async function lockById(
  runner: Runner,
  parked: string,
  condition: string,
  limit: number,
): Promise<readonly LockedRow[]> {
  const { rows } = await runner.run(
    `SELECT sequence, handler, \`key\` FROM ${parked} FORCE INDEX (parked_steps) WHERE ${condition}
     ORDER BY sequence LIMIT ${integer(limit)} FOR UPDATE SKIP LOCKED`,
  )
  return rows.map(rowIn)
}

function rowIn([sequence, handler, key]: readonly Cell[]): LockedRow {
  return { sequence: textIn(sequence), handler: textIn(handler), key: textIn(key) }
}
