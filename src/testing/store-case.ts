import type { Store } from '../contracts/index.ts'

/**
 * What a store must be able to do for a case to make sense on it. The first group is read from the store itself, the
 * second from which optional members its driver gave to the context, the third from what the driver declares.
 */
export type CaseNeed =
  | 'atomic'
  | 'parts'
  | 'limits'
  | 'retention'
  | 'positions'
  | 'queue'
  | 'queue-listen'
  | 'queue-announce'
  | 'revocable'
  | 'concurrent'
  | 'few-connections'
  // … given by the driver
  | 'bad-write'
  | 'ruinous-write'
  | 'deferred-failure'
  | 'row-locks'
  | 'commit'
  | 'controls'
  | 'own-savepoint'
  | 'savepoint-names'
  | 'prepared-write'
  | 'cut'
  | 'native-transaction'
  | 'empty-database'
  | 'backup'
  | 'clock'
  | DeclaredNeed

export type DeclaredNeed =
  /** A failed statement spoils the whole transaction until it is undone (Postgres). */
  | 'poisoning'
  /** Calls through the native client take time, so that they can be open when a handler settles. */
  | 'async-calls'
  /** The database ends a holder that is silent for longer than `idleTimeoutMs`. */
  | 'idle-timeout'
  /** `effects.transaction` heeds `repeatableRead`, and a rival's commit then fails a claim in it. */
  | 'strict-isolation'
  /** The schema is made of tables that a person could create by hand. */
  | 'tables'

/** What the cases write beside the store's own records, in a table of the driver's, through the native client. */
export interface Effects<Tx> {
  /** One row, through the native client or a loan of it. */
  write(tx: Tx, name: string): Promise<void>
  /** Committed rows of that name, read outside any transaction. */
  count(name: string): Promise<number>
  /** A statement that the database refuses; it rejects. The value, if there is one, is given with it as a parameter. */
  writeBadly?(tx: Tx, value?: string): Promise<unknown>
  /** A statement whose failure ends the whole transaction (`on conflict rollback`, a deadlock in InnoDB); it rejects. */
  writeRuinously?(tx: Tx): Promise<unknown>
  /** A statement that succeeds and makes the commit fail (a deferred constraint). */
  writeFailingAtCommit?(tx: Tx): Promise<unknown>
  /**
   * Takes an exclusive lock of that name, whichever it is, as an update of one row does, and holds it until the transaction
   * ends. An update that finds no row locks nothing.
   */
  lock?(tx: Tx, name: string): Promise<unknown>
  /** What a careless helper does to commit by itself through the native client. */
  commit?(tx: Tx): Promise<unknown>
  /** Every way to begin, commit or roll back that the native client offers, the one of `commit` included. */
  readonly controls?: readonly { readonly name: string; run(tx: Tx): Promise<unknown> }[]
  /** The work in a savepoint of the user's own, which is rolled back when the work rejects; then it rejects too. */
  inSavepoint?(tx: Tx, work: () => Promise<void>): Promise<void>
  /** Single steps of that, by name. */
  readonly savepoints?: {
    make(tx: Tx, name: string): Promise<unknown>
    undo(tx: Tx, name: string): Promise<unknown>
    release(tx: Tx, name: string): Promise<unknown>
  }
  /** A write that is made ready through `tx` now (a detached method, a prepared statement) and called later. */
  prepareWrite?(tx: Tx): (name: string) => Promise<void>
  /** Loses the connection under an open transaction, as a failing network does. */
  cut?(tx: Tx): Promise<void>
  /** A transaction opened as an application does it, without the store; commits, or rolls back when the work rejects. */
  transaction?<T>(work: (tx: Tx) => Promise<T>, options?: { readonly repeatableRead?: boolean }): Promise<T>
}

/** One database, installed and empty, with two independent stores on it. Each case gets a fresh one. */
export interface StoreCaseContext<Tx> {
  readonly store: Store<Tx>
  /** Another store on the same database, with connections of its own: another process, as far as the database can tell. */
  readonly rival: Store<Tx>
  readonly effects: Effects<Tx>
  readonly declares?: readonly DeclaredNeed[]
  /** Two stores on one database where nothing is installed yet; closed by `close`. */
  openEmpty?(): Promise<readonly [Store<Tx>, Store<Tx>]>
  /**
   * Keeps the database as it is now. What it resolves to puts it back to that, the way an operator restores a backup, and
   * resolves to a store that was opened afterwards. `store` and `rival` stay open all the time.
   */
  backUp?(): Promise<() => Promise<Store<Tx>>>
  /**
   * Moves the database's clock by so much, or, where that cannot be done, every time that it has stored by as much the
   * other way, which is the same to it.
   */
  moveClock?(ms: number): Promise<void>
  /** Closes both stores and whatever was opened for them, and removes the data. */
  close(): Promise<void>
}

/**
 * One sentence that every store must keep, as data: bind it to any test runner. It throws, by `node:assert`, when the
 * store does not keep it.
 *
 * ```ts
 * for (const each of storeCases) test(each.name, () => runStoreCase(each, openMyStore))
 * ```
 */
export interface StoreCase {
  readonly name: string
  readonly needs?: readonly CaseNeed[]
  run<Tx>(context: StoreCaseContext<Tx>): Promise<void>
}
