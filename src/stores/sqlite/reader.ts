import type { FairMutex } from '../shared/fair-mutex.ts'
import { type Patience, retryWhileBusy } from './busy-retry.ts'
import { closeFile } from './close-file.ts'
import type { Connection } from './connection.ts'
import { type OpenFile, openFileOf } from './open-file.ts'
import { checkNothingAttached } from './session.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { closedError, explained } from './sqlite-errors.ts'
import { type Statements, statementsOf } from './statements.ts'

/** Reads what is committed, without waiting for an open transaction. */
export interface Reader {
  read<T>(look: (statements: Statements) => T): Promise<T>
  /** Changes when another connection has committed; `undefined` if that cannot be determined now. */
  dataVersion(): number | undefined
  close(): void
}

/** Reads through a second connection to the same file. */
export interface ConnectedReader extends Reader {
  /** Closes the connection, which is reopened when it is needed. */
  letGo(): void
}

/** Opens a second connection to the same file. */
export function connectedReader(
  { path, open }: { readonly path: string; open(): SqliteDatabase },
  patience: Patience,
): ConnectedReader {
  let database: SqliteDatabase | undefined
  let file: OpenFile | undefined
  let closed = false
  const letGo = (): void => {
    if (database !== undefined) closeFile(database, file)
    database = undefined
  }
  const connected = (): SqliteDatabase => {
    if (closed) throw closedError()
    if (file?.isThere() === false) letGo()
    if (database === undefined) {
      const opened = open()
      try {
        opened.exec('PRAGMA busy_timeout = 0; PRAGMA query_only = ON')
        checkNothingAttached(opened, 'OPTION_INVALID')
        file = openFileOf(opened, path, file !== undefined)
      } catch (error) {
        opened.close()
        throw error
      }
      database = opened
    }
    return database
  }
  return {
    read: (look) =>
      retryWhileBusy(() => look(statementsOf(connected())), patience).catch((error) => {
        throw explained(error)
      }),
    dataVersion: () => dataVersionOf(connected()),
    letGo,
    close() {
      closed = true
      letGo()
    },
  }
}

/** For a database in memory, and for a connection given by the user: there is no second connection, so reads take turns. */
export function sharedReader<Database extends SqliteDatabase>(
  connection: Connection<Database>,
  turns: FairMutex,
  patience: Patience,
): Reader {
  return {
    async read(look) {
      const endTurn = await turns.acquire()
      try {
        const database = await connection.ready(patience)
        return await retryWhileBusy(() => look(statementsOf(database)), patience)
      } finally {
        endTurn()
      }
    },
    dataVersion() {
      // Inside a transaction the version does not change.
      return turns.idle && connection.current !== undefined ? dataVersionOf(connection.current) : undefined
    },
    close() {},
  }
}

function dataVersionOf(database: SqliteDatabase): number {
  return Number(statementsOf(database).get<{ data_version: number }>('PRAGMA data_version')?.data_version)
}
