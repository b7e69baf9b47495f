import { textIn } from './literals-and-cells.ts'
import type { Answer } from './runner.ts'
import type { Tables } from './tables.ts'

/** What `read_only` says on a writable server: 0, or OFF where it has more values than on and off (MariaDB 12 and later). */
const takesWrites = new Set(['0', 'OFF'])

/** Reads our table and checks whether the server accepts writes: after a failover, a replica answers everything else. */
export async function ping(
  { read }: { read(sql: string): Promise<Answer['rows']> },
  { meta }: Pick<Tables, 'meta'>,
): Promise<void> {
  const rows = await read(`SELECT @@GLOBAL.read_only FROM ${meta}`)
  if (!takesWrites.has(textIn(rows[0]?.[0])))
    throw new Error('The server takes no writes here: a replica, or read only by a setting.')
}
