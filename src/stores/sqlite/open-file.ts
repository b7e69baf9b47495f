import { statSync } from 'node:fs'
import { JustonceError } from '../../errors/index.ts'
import { isOpen, readPragma, type SqliteDatabase } from './sqlite-database.ts'
import { statementsOf } from './statements.ts'

/** The file that a connection has open. */
export interface OpenFile {
  /**
   * Whether the connection still writes to the file that has its name, and to the log of that name. Where a backup was put in
   * its place, or somebody has removed the log, it does not: the connection keeps the old one, which vanishes with it.
   * Throws while there is no file of that name at all.
   */
  isThere(): boolean
}

/** `isAgain`: another one of that name was open before. */
export function openFileOf(database: SqliteDatabase, isAgain = false): OpenFile {
  const files = statementsOf(database).all<{ name: string; file: string | null }>('PRAGMA database_list')
  const path = files.find(({ name }) => name === 'main')?.file ?? ''
  if (path === '') return { isThere: () => true }
  const opened = fileAt(path)
  // Whoever looks has a log, and it stays for as long as somebody has the file open.
  statementsOf(database).get('SELECT 1 FROM main.sqlite_schema LIMIT 1')
  const log = writesAhead(database) ? fileAt(`${path}-wal`) : undefined
  // It has got the index of the removed log from another connection of this process, and it would not fit a new one.
  if (isAgain && log !== undefined && fileAt(`${path}-shm`) === undefined) throw replacedError()
  return {
    isThere() {
      const now = fileAt(path)
      if (now === undefined && opened !== undefined)
        throw new JustonceError('FILE_REPLACED', {
          message: `The SQLite file ${path} was removed while it was open. What is written now would be lost.`,
        })
      if (now !== opened) return false
      return log === undefined || fileAt(`${path}-wal`) === log || (isOpen(database) && !writesAhead(database))
    },
  }
}

function writesAhead(database: SqliteDatabase): boolean {
  return readPragma(database, 'main.journal_mode') === 'wal'
}

/** For a connection that is not ours to open again, or that cannot be while others in this process have the old one. */
export function replacedError(): JustonceError {
  return new JustonceError('FILE_REPLACED', {
    message:
      'Another file was put in the place of the SQLite file, or its log was removed. What is written through this connection would be lost.',
  })
}

function fileAt(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}
