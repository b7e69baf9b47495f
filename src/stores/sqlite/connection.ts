import { JustonceError } from '../../errors/index.ts'
import { type Patience, retryWhileBusy } from './busy-retry.ts'
import { closeFile } from './close-file.ts'
import { transactionEnded } from './epoch.ts'
import { type OpenFile, openFileOf, replacedError } from './open-file.ts'
import { checkNothingAttached, putSessionRight } from './session.ts'
import { inTransaction, isOpen, readPragma, type SqliteDatabase } from './sqlite-database.ts'
import { closedError, explained } from './sqlite-errors.ts'
import { statementsOf } from './statements.ts'

/**
 * The seal: while its row exists, the deferred foreign key, which points to nothing, makes every COMMIT fail. A temporary
 * table costs no write to the file, and violations are counted for the connection as a whole.
 */
const createSeal = `CREATE TEMP TABLE IF NOT EXISTS justonce_seal (
  id integer PRIMARY KEY,
  opens integer NOT NULL REFERENCES justonce_seal (id) DEFERRABLE INITIALLY DEFERRED
)`

/** How to get a connection, and whether we may close and reopen it. */
export type Origin<Database> =
  | { readonly kind: 'opened'; readonly path: string; open(): Database }
  | { readonly kind: 'given'; readonly database: Database }

/** Another connection to the same file, which can detect that someone else has committed. */
export interface Witness {
  dataVersion(): number | undefined
  /** Closes the connection until it is needed again. */
  letGo(): void
}

/** The only connection that writes. Its user must hold the turn. */
export class Connection<Database extends SqliteDatabase> {
  readonly #origin: Origin<Database>
  readonly #witness: Witness | undefined
  #seen: number | undefined
  #database: Database | undefined
  #file: OpenFile | undefined
  #discarded = false

  constructor(origin: Origin<Database>, witness?: Witness) {
    this.#origin = origin
    this.#witness = witness
  }

  /** Opens the connection if necessary: the file may have been unreachable a moment ago. */
  async ready(patience: Patience): Promise<Database> {
    if (this.#database !== undefined && isOpen(this.#database) && this.#isThere()) return this.#database
    const database = this.#open()
    try {
      await retryWhileBusy(() => prepareConnection(database), patience)
      const given = this.#origin.kind === 'opened' ? this.#origin.path : undefined
      this.#file = openFileOf(database, given, this.#file !== undefined)
    } catch (error) {
      this.#closeOwn(database)
      throw explained(error)
    }
    this.#database = database
    return database
  }

  /** The open connection, if there is one. */
  get current(): Database | undefined {
    return this.#database !== undefined && isOpen(this.#database) ? this.#database : undefined
  }

  async begin(patience: Patience): Promise<Database> {
    const database = await this.ready(patience)
    const statements = statementsOf(database)
    try {
      await retryWhileBusy(() => open(database), patience)
      statements.run('INSERT INTO temp.justonce_seal (id, opens) VALUES (1, 0)')
      this.#seen = this.#version()
    } catch (error) {
      this.undo(database)
      throw explained(error)
    }
    return database
  }

  /** Breaks the seal and commits. If that fails, the caller rolls back. */
  async commit(database: Database, patience: Patience): Promise<void> {
    const unbroken = inTransaction(database)
    if (!unbroken || statementsOf(database).run('DELETE FROM temp.justonce_seal WHERE id = 1') !== 1) {
      throw new JustonceError('TX_ENDED', { message: 'The open transaction is not the one that was begun.' })
    }
    if (this.#file?.isThere() === false) throw replacedError()
    const seen = this.#version()
    if (seen !== undefined && this.#seen !== undefined && seen !== this.#seen) throw lockBroken()
    try {
      await retryWhileBusy(() => database.exec('COMMIT'), patience)
      transactionEnded(statementsOf(database), 'committed')
    } catch (error) {
      throw explained(error)
    }
  }

  /** Never throws. A connection whose transaction cannot be ended is not used again. */
  undo(database: Database): void {
    transactionEnded(statementsOf(database), 'undone')
    try {
      if (inTransaction(database)) database.exec('ROLLBACK')
      if (!inTransaction(database)) return
    } catch {
      // Handled below, like a rollback that did nothing.
    }
    this.#database = undefined
    this.#discarded = true
    this.#closeOwn(database)
  }

  close(): void {
    if (this.#database !== undefined) this.#closeOwn(this.#database)
    this.#database = undefined
    this.#discarded = true
  }

  /** If another file now has this name, the connection is closed and the name is opened again. */
  #isThere(): boolean {
    if (this.#file?.isThere() !== false) return true
    if (this.#origin.kind === 'given') throw replacedError()
    if (this.#database !== undefined) this.#closeOwn(this.#database)
    this.#database = undefined
    // Connections of one process share their knowledge of the log, so the next one must not get it from an old one.
    this.#witness?.letGo()
    return false
  }

  /** While we hold the lock, nobody else can commit, and the version stays the same. `undefined` if it is unknown. */
  #version(): number | undefined {
    try {
      return this.#witness?.dataVersion()
    } catch {
      return undefined
    }
  }

  #open(): Database {
    if (this.#origin.kind === 'given') {
      const { database } = this.#origin
      if (this.#discarded || !isOpen(database)) throw closedError()
      return database
    }
    try {
      return this.#origin.open()
    } catch (error) {
      throw explained(error)
    }
  }

  #closeOwn(database: Database): void {
    if (this.#origin.kind === 'given') return
    try {
      closeFile(database, this.#file)
    } catch {
      // Already closed, or busy with a statement that nobody will finish. It is dropped either way.
    }
  }
}

/**
 * SQLite's locks belong to the process, so two copies of SQLite in one process do not exclude each other, and closing the
 * file anywhere releases the locks. A commit now would overwrite what someone else has committed in the meantime.
 */
function lockBroken(): JustonceError {
  return new JustonceError('FILE_LOCK_BROKEN', {
    message: 'Something else wrote to the SQLite file while this transaction had it locked. It was rolled back.',
  })
}

function open(database: SqliteDatabase): void {
  putSessionRight(database)
  checkNothingAttached(database, 'FILES_ATTACHED')
  database.exec('BEGIN IMMEDIATE')
}

function prepareConnection(database: SqliteDatabase): void {
  if (inTransaction(database))
    throw new JustonceError('OPTION_INVALID', { message: 'The SQLite database has a transaction open already.' })
  putSessionRight(database)
  checkNothingAttached(database, 'OPTION_INVALID')
  database.exec('PRAGMA main.journal_mode = WAL')
  if (Number(readPragma(database, 'foreign_keys')) !== 1)
    throw new JustonceError('OPTION_INVALID', {
      message: 'This build of SQLite has no foreign keys, without which a transaction cannot be sealed.',
    })
  database.exec(createSeal)
}
