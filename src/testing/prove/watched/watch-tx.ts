import type { Execution } from '../execution.ts'
import { watchAny } from './watch-any.ts'
import { watchMysql } from './watch-mysql.ts'
import { watchPg } from './watch-pg.ts'
import { watchPostgresJs } from './watch-postgres-js.ts'
import { watchSqlite } from './watch-sqlite.ts'

/** The same transaction, watched by the execution. The way to watch it depends on the kind of client. */
export function watchTx(tx: unknown, execution: Execution): unknown {
  if (typeof tx === 'function') return watchPostgresJs(tx, execution)
  if (typeof tx !== 'object' || tx === null) return tx
  const { query, prepare, exec, execute } = tx as Record<'query' | 'prepare' | 'exec' | 'execute', unknown>
  if (typeof prepare === 'function' && typeof exec === 'function') return watchSqlite(tx, execution)
  if (typeof query === 'function' && typeof execute === 'function') return watchMysql(tx, execution)
  if (typeof query === 'function') return watchPg(tx, execution)
  return watchAny(tx, execution)
}
