import { textIn } from './cells.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import type { ShortTransactions } from './short-transactions.ts'
import type { Tables } from './tables.ts'

/** Reads our table and asks whether it could be written: after a failover a replica answers everything but that. */
export async function ping<Native extends MysqlConnectionShape>(
  short: ShortTransactions<Native>,
  { meta }: Tables,
): Promise<void> {
  const rows = await short.read(`SELECT @@GLOBAL.read_only FROM ${meta}`)
  if (textIn(rows[0]?.[0]) !== '0')
    throw new Error('The server takes no writes here: a replica, or read only by a setting.')
}
