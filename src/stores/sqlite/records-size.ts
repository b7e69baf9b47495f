import type { RecordsSize } from '../../contracts/index.ts'
import type { Reader } from './reader.ts'

/** SQLite knows its pages without looking into them, and nothing of a single table. */
const usedBytes = `SELECT (page_count - freelist_count) * page_size AS bytes
  FROM pragma_page_count, pragma_freelist_count, pragma_page_size`

export function recordsSize(reader: Pick<Reader, 'read'>): () => Promise<RecordsSize> {
  return async () => {
    const found = await reader.read((statements) => statements.get<{ readonly bytes: number }>(usedBytes))
    return { rows: undefined, bytes: found?.bytes, of: 'database' }
  }
}
