import type { RecordsSize } from '../../../contracts/index.ts'
import type { Connections } from '../connection.ts'
import { statement } from '../statement.ts'
import type { Tables } from '../tables.ts'

/** What a record with a random id takes, its index included. */
const usualBytes = 210

export function recordsSize<Tx>(
  connections: Pick<Connections<Tx>, 'runAlone'>,
  { inbox }: Pick<Tables, 'inbox'>,
): () => Promise<RecordsSize> {
  // A partition that nobody has analysed yet is taken for full of records of a usual size.
  const size = statement(
    `SELECT coalesce(sum(CASE WHEN reltuples > 0 THEN reltuples ELSE pg_total_relation_size(oid) / ${usualBytes} END), 0)::bigint,
            coalesce(sum(pg_total_relation_size(oid)), 0)::bigint
     FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = '${inbox}'::regclass`,
  )
  return async () => {
    const [rows, bytes] = (await connections.runAlone(size, [])).rows[0] ?? []
    return { rows: Number(rows), bytes: Number(bytes) }
  }
}
