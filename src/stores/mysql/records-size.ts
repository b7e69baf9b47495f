import type { RecordsSize } from '../../contracts/index.ts'
import { numberIn } from './literals-and-cells.ts'
import type { ShortTransactions } from './short-transactions.ts'
import type { Tables } from './tables.ts'

export function recordsSize(
  short: Pick<ShortTransactions<never>, 'read'>,
  { prefix, databaseValue }: Pick<Tables, 'prefix' | 'databaseValue'>,
): () => Promise<RecordsSize> {
  return async () => {
    const [row] = await short.read(
      `SELECT table_rows, data_length + index_length FROM information_schema.tables
       WHERE table_schema = ${databaseValue} AND table_name = '${prefix}inbox'`,
    )
    return { rows: numberIn(row?.[0]), bytes: numberIn(row?.[1]) }
  }
}
