import type { OpenFile } from './open-file.ts'
import type { SqliteDatabase } from './sqlite-database.ts'

/**
 * Closes a connection. The last one that closes a file copies the log into it and removes the log, as its own index says. If others
 * have made another log or index meanwhile, that would destroy what they have committed. SQLite does it only under a lock
 * that a connection which may only read cannot take, so such a one is closed last.
 */
export function closeFile(database: SqliteDatabase, file: OpenFile | undefined): void {
  const last = file?.isSuperseded() ? readerBeside(database, file.path) : undefined
  try {
    database.close()
  } finally {
    last?.close()
  }
}

/** `undefined` if the library has another constructor than those that we know. */
function readerBeside(database: SqliteDatabase, path: string): SqliteDatabase | undefined {
  let reader: SqliteDatabase | undefined
  try {
    reader = openToRead(database, path)
    reader.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get()
  } catch {
    // It has its lock also if what it reads makes no sense any more.
  }
  return reader
}

/** The two libraries spell the option differently, and better-sqlite3 refuses the other spelling. */
function openToRead(database: SqliteDatabase, path: string): SqliteDatabase {
  type Opening = new (path: string, options: { readOnly: true } | { readonly: true }) => SqliteDatabase
  const Library = database.constructor as Opening
  try {
    return new Library(path, { readOnly: true })
  } catch {
    return new Library(path, { readonly: true })
  }
}
