import { statSync } from 'node:fs'
import { JustonceError } from '../../errors/index.ts'
import { isOpen, readPragma, type SqliteDatabase } from './sqlite-database.ts'
import { statementsOf } from './statements.ts'

/** The file that a connection has open. */
export interface OpenFile {
  /**
   * Whether the connection still writes to the file, the log and the index of the log that have its names. If a backup was put
   * in place, or the log was removed, the connection keeps the old files, which vanish with it. If the index was removed, who
   * opens the file next makes another one: its locks are there, so neither excludes the other, and each overwrites what the
   * other commits. Throws while there is no file of that name at all.
   */
  isThere(): boolean
  /** Whether others have made another log, or another index of it, in the place of those that the connection has. */
  isSuperseded(): boolean
  readonly path: string
}

/**
 * `given` is the name that it was opened by, if that is known: SQLite follows links only when it opens the file, and reports
 * where they led. `isAgain`: another file of that name was open before.
 */
export function openFileOf(database: SqliteDatabase, given: string | undefined, isAgain = false): OpenFile {
  const files = statementsOf(database).all<{ name: string; file: string | null }>('PRAGMA database_list')
  const path = files.find(({ name }) => name === 'main')?.file ?? ''
  if (path === '') return { path, isThere: () => true, isSuperseded: () => false }
  const opened = fileAt(path)
  const name = given !== undefined && fileAt(given) === opened ? given : path
  // A read creates the log, which stays for as long as anyone has the file open.
  statementsOf(database).get('SELECT 1 FROM main.sqlite_schema LIMIT 1')
  const beside = writesAhead(database) ? ['wal', 'shm'].map((end) => partAt(`${path}-${end}`)) : []
  const [log, index] = beside
  // The connection got a removed index from another connection of this process. It would not match a new log.
  if (isAgain && log?.opened !== undefined && index?.opened === undefined) throw replacedError()
  return {
    path,
    isThere() {
      const now = fileAt(name)
      if (now === undefined && opened !== undefined)
        throw new JustonceError('FILE_REPLACED', {
          message: `The SQLite file ${name} was removed while it was open. What is written now would be lost.`,
        })
      if (now !== opened) return false
      const areThere = beside.every((part) => part.opened === undefined || part.now() === part.opened)
      return areThere || (isOpen(database) && !writesAhead(database))
    },
    isSuperseded: () =>
      beside.some((part) => {
        const now = part.now()
        return part.opened !== undefined && now !== undefined && now !== part.opened
      }),
  }
}

function partAt(name: string) {
  return { opened: fileAt(name), now: () => fileAt(name) }
}

function writesAhead(database: SqliteDatabase): boolean {
  return readPragma(database, 'main.journal_mode') === 'wal'
}

/** For a connection that we may not reopen, or cannot reopen while others in this process have the old file open. */
export function replacedError(): JustonceError {
  return new JustonceError('FILE_REPLACED', {
    message:
      'Another file was put in the place of the SQLite file, or its log or the index of that was removed. What is written through this connection would be lost.',
  })
}

function fileAt(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}
