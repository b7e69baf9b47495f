import type { TxOf } from '../../app/types.ts'
import type { Store } from '../../contracts/index.ts'
import type { TableFacts, Tables } from './tables.ts'

/** Where a scratch database is, for a handler, a migration or a check that opens its own connection. */
export interface ScratchPlace {
  /** The URL of the scratch schema, or the path of the SQLite file. */
  readonly url: string
}

/**
 * A kind of database that handlers can be proven on. `scratchSqlite`, `scratchPostgres` and `scratchMysql` create the usual
 * ones. Implement this for your own store.
 */
export interface ScratchDatabase<S extends Store> {
  readonly name: string
  /** Creates a database that nobody else uses, installs the store's tables and calls `setup` for the rest. */
  prepare(setup: (db: TxOf<S>, place: ScratchPlace) => unknown): Promise<ScratchTemplate<S>>
}

/** A scratch database after its setup, of which copies are made. */
export interface ScratchTemplate<S extends Store> {
  /** The database as it was after the setup. Only one copy is in use at a time. */
  fresh(): Promise<ScratchCopy<S>>
  /** Removes everything that was created. */
  remove(): Promise<void>
}

/** A fresh copy of a scratch database, for one run. */
export interface ScratchCopy<S extends Store> {
  readonly place: ScratchPlace
  /** Opens the store as a newly started process does. */
  openStore(): Promise<OpenedStore<S>>
  /** Lends a plain connection, without a transaction. */
  use<T>(work: (db: TxOf<S>, place: ScratchPlace) => T): Promise<Awaited<T>>
  /** All rows of all tables except the store's own. */
  tables(): Promise<Tables>
  facts(): Promise<TableFacts>
  /** Whether a transaction waits for a lock. Absent if only one transaction can be open at a time. */
  someoneWaits?(): Promise<boolean>
  remove(): Promise<void>
}

export interface OpenedStore<S extends Store> {
  readonly store: S
  close(): Promise<void>
}
