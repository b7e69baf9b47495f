import type { Execution } from '../execution.ts'
import { watchAny } from './watch-any.ts'
import { watchPg } from './watch-pg.ts'
import { watchPostgresJs } from './watch-postgres-js.ts'
import { watchSqlite } from './watch-sqlite.ts'

/** The same transaction, seen through by the execution. How that is done depends on what the client looks like. */
export function watchTx(tx: unknown, execution: Execution): unknown {
  if (typeof tx === 'function') return watchPostgresJs(tx, execution)
  if (typeof tx !== 'object' || tx === null) return tx
  const { query, prepare, exec } = tx as { query?: unknown; prepare?: unknown; exec?: unknown }
  if (typeof prepare === 'function' && typeof exec === 'function') return watchSqlite(tx, execution)
  if (typeof query === 'function') return watchPg(tx, execution)
  return watchAny(tx, execution)
}
