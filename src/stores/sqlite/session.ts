import { JustonceError } from '../../errors/index.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { statementsOf } from './statements.ts'

/**
 * FULL makes every commit durable before it is acknowledged; some builds default to NORMAL. Nothing is written to the file
 * before the commit, because to others that would look like a commit.
 */
const settings = `PRAGMA busy_timeout = 0; PRAGMA query_only = OFF; PRAGMA foreign_keys = ON;
  PRAGMA main.synchronous = FULL; PRAGMA main.locking_mode = NORMAL; PRAGMA cache_spill = OFF`

/** Run before every transaction, because another user of the connection may have changed what our commit depends on. */
export function putSessionRight(database: SqliteDatabase): void {
  database.exec(settings)
}

/**
 * With write-ahead logs, a commit over several files is atomic in each file but not across all of them: after a crash in the
 * middle, the record could exist without the effect.
 */
export function checkNothingAttached(database: SqliteDatabase, code: 'FILES_ATTACHED' | 'OPTION_INVALID'): void {
  const files = statementsOf(database).all<{ name: string; file: string }>('PRAGMA database_list')
  const attached = files.filter(({ name }) => name !== 'main' && name !== 'temp')
  if (attached.length === 0) return
  const names = attached.map(({ name, file }) => `${name} (${file || 'in memory'})`).join(', ')
  throw new JustonceError(code, {
    message: `The SQLite connection has other databases attached: ${names}. Effects in them would not be atomic with the record.`,
  })
}
