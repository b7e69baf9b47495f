/** What can be bound to a statement. */
export type SqliteValue = null | number | bigint | string | Uint8Array

/** The part of a prepared statement that is used. */
export interface SqliteStatement {
  run(...values: SqliteValue[]): { readonly changes: number | bigint }
  get(...values: SqliteValue[]): unknown
  all(...values: SqliteValue[]): unknown[]
}

/** What the store needs of a connection: `DatabaseSync` of node:sqlite and `Database` of better-sqlite3 both fit. */
export interface SqliteDatabase {
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
  close(): unknown
}

/** Members that the two libraries name differently. */
interface Flags {
  readonly isTransaction?: boolean
  readonly inTransaction?: boolean
  readonly isOpen?: boolean
  readonly open?: boolean | (() => void)
}

/** `false` also for a closed database: one library reports that, the other throws. */
export function inTransaction(database: SqliteDatabase): boolean {
  const flags = database as Flags
  try {
    return flags.isTransaction ?? flags.inTransaction ?? false
  } catch {
    return false
  }
}

export function isOpen(database: SqliteDatabase): boolean {
  const { isOpen, open } = database as Flags
  return isOpen ?? open !== false
}

export function canTellTransactions(database: SqliteDatabase): boolean {
  return 'isTransaction' in database || 'inTransaction' in database
}

export function readPragma(database: SqliteDatabase, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() as object)[0]
}
