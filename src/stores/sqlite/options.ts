import { checkNumber, checkOptions, JustonceError } from '../../errors/index.ts'
import { canTellTransactions, type SqliteDatabase } from './sqlite-database.ts'

export interface SqliteTuning {
  /** How long to wait for other processes that hold the file before failing as a conflict. Default 10 000. */
  readonly busyTimeoutMs?: number | undefined
}

/** `sqliteStore()` on a file that it opens with `node:sqlite`. */
export interface SqlitePathOptions extends SqliteTuning {
  /** The file; `:memory:` for a database that lives and dies with the store. */
  readonly path: string
}

/** `sqliteStore()` on a file that another library opens. */
export interface SqliteOpenOptions<Database> extends SqlitePathOptions {
  /** Opens a connection with another library: `(path) => new BetterSqlite3(path)`. Called for each connection. */
  readonly open: (path: string) => Database
}

/** `sqliteStore()` on a connection that you have opened. */
export interface SqliteGivenOptions<Database> extends SqliteTuning {
  /** An open connection of `node:sqlite` or `better-sqlite3`. */
  readonly database: Database
  /**
   * A promise that nobody else uses this connection from now on: a statement run on it between two steps of a handler would
   * become part of the handler's transaction, and be rolled back with it.
   */
  readonly exclusive: true
}

const known = ['path', 'open', 'database', 'exclusive', 'busyTimeoutMs']

export function checkSqliteOptions(options: object): void {
  checkOptions(options, known, 'sqliteStore()')
  const { path, open, database, exclusive, busyTimeoutMs } = options as Record<string, unknown>
  if ((path === undefined) === (database === undefined)) invalid('sqliteStore() needs either path or database.')
  if (database === undefined && (typeof path !== 'string' || path === ''))
    invalid(`path is ${JSON.stringify(path)}, not the name of a file.`)
  if (open !== undefined && (database !== undefined || typeof open !== 'function'))
    invalid('open must be a function, and goes with path.')
  if (database !== undefined) checkGiven(database, exclusive)
  if (busyTimeoutMs !== undefined) checkNumber(busyTimeoutMs as number, 'busyTimeoutMs', 0)
}

function checkGiven(database: unknown, exclusive: unknown): void {
  if (exclusive !== true)
    invalid(
      'A database was given without exclusive: true. Any statement that other code runs on it while a handler awaits ' +
        "would join the handler's transaction and be undone with it: pass path instead, or give the connection up.",
    )
  if (typeof database !== 'object' || database === null || !canTellTransactions(database as SqliteDatabase))
    invalid('database is not a DatabaseSync of node:sqlite (Node 22.16 or later) or a Database of better-sqlite3.')
}

function invalid(message: string): never {
  throw new JustonceError('OPTION_INVALID', { message })
}
