import { statSync } from 'node:fs'
import { JustonceError } from '../../errors/index.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { statementsOf } from './statements.ts'

/** The file that a connection has open. */
export interface OpenFile {
  /**
   * Whether the connection still writes to the file that has its name. Where a backup was put in its place, it does not:
   * the connection keeps the old file, which vanishes with it. Throws while there is no file of that name at all.
   */
  isThere(): boolean
}

export function openFileOf(database: SqliteDatabase): OpenFile {
  const files = statementsOf(database).all<{ name: string; file: string | null }>('PRAGMA database_list')
  const path = files.find(({ name }) => name === 'main')?.file ?? ''
  if (path === '') return { isThere: () => true }
  const opened = fileAt(path)
  return {
    isThere() {
      const now = fileAt(path)
      if (now === undefined && opened !== undefined)
        throw new JustonceError('FILE_REPLACED', {
          message: `The SQLite file ${path} was removed while it was open. What is written now would be lost.`,
        })
      return now === opened
    },
  }
}

/** For a connection that is not ours to open again. */
export function replacedError(): JustonceError {
  return new JustonceError('FILE_REPLACED', {
    message:
      'Another file was put in the place of the SQLite file. What is written through this connection would be lost.',
  })
}

function fileAt(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}
