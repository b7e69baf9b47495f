import type { Store } from '../contracts/index.ts'

/**
 * What a store must be able to do for a case to make sense. The first group is read from the store itself, the second from the
 * optional members that its driver gave to the context, the third from what the driver declares.
 */
export type CaseNeed =
  | 'atomic'
  | 'parts'
  | 'travelling-parts'
  | 'limits'
  | 'retention'
  | 'positions'
  | 'queue'
  | 'queue-list'
  | 'queue-listen'
  | 'queue-announce'
  | 'revocable'
  | 'interleaves'
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

/** What a case needs of a store that the store cannot say itself. */
export type DeclaredNeed =
  /** A failed statement makes the whole transaction unusable until it is rolled back (Postgres). */
  | 'poisoning'
  /** Calls through the native client are asynchronous, so they can still be open when a handler settles. */
  | 'async-calls'
  /** The database ends a transaction that is idle for longer than `idleTimeoutMs`. */
  | 'idle-timeout'
  /** `effects.transaction` respects `repeatableRead`, and another transaction's commit then makes a claim in it fail. */
  | 'strict-isolation'
  /** The store gives the work of its transactions a `lastWrites`, and rejects a change of a `claimed` record that is not there. */
  | 'last-writes'
  /** The schema consists of tables that a person could create by hand. */
  | 'tables'

/** What the cases write in addition to the store's own records, through the native client, in a table of the driver's. */
export interface Effects<Tx> {
  /** Writes one row, through the native client or a loan of it. */
  write(tx: Tx, name: string): Promise<void>
  /** Counts the committed rows of that name, outside any transaction. */
  count(name: string): Promise<number>
  /** Runs a statement that the database refuses, and rejects. The value, if given, is passed as a parameter. */
  writeBadly?(tx: Tx, value?: string): Promise<unknown>
  /** Runs a statement whose failure ends the whole transaction (`on conflict rollback`, a deadlock in InnoDB), and rejects. */
  writeRuinously?(tx: Tx): Promise<unknown>
  /** Runs a statement that succeeds and makes the commit fail (a deferred constraint). */
  writeFailingAtCommit?(tx: Tx): Promise<unknown>
  /**
   * Takes an exclusive lock of that name, for any name, as an update of one row does, and holds it until the transaction ends.
   * An update that finds no row locks nothing.
   */
  lock?(tx: Tx, name: string): Promise<unknown>
  /** What a careless helper does to commit through the native client. */
  commit?(tx: Tx): Promise<unknown>
  /** Every way to begin, commit or roll back that the native client offers, including that of `commit`. */
  readonly controls?: readonly { readonly name: string; run(tx: Tx): Promise<unknown> }[]
  /** Runs the work in a savepoint of the user's. If the work rejects, the savepoint is rolled back and this rejects, too. */
  inSavepoint?(tx: Tx, work: () => Promise<void>): Promise<void>
  /** The single steps of that, by savepoint name. */
  readonly savepoints?: {
    make(tx: Tx, name: string): Promise<unknown>
    undo(tx: Tx, name: string): Promise<unknown>
    release(tx: Tx, name: string): Promise<unknown>
  }
  /** Prepares a write through `tx` now (a detached method, a prepared statement), to be called later. */
  prepareWrite?(tx: Tx): (name: string) => Promise<void>
  /** Cuts the connection of an open transaction, as a failing network does. */
  cut?(tx: Tx): Promise<void>
  /** Opens a transaction as an application does, without the store. Commits, or rolls back if the work rejects. */
  transaction?<T>(work: (tx: Tx) => Promise<T>, options?: { readonly repeatableRead?: boolean }): Promise<T>
}

/** One database, installed and empty, with two independent stores on it. Each case gets a fresh one. */
export interface StoreCaseContext<Tx> {
  readonly store: Store<Tx>
  /** Another store on the same database, with its own connections. To the database, it is another process. */
  readonly rival: Store<Tx>
  readonly effects: Effects<Tx>
  readonly declares?: readonly DeclaredNeed[]
  /** Two stores on one database where nothing is installed yet. `close` closes them. */
  openEmpty?(): Promise<readonly [Store<Tx>, Store<Tx>]>
  /**
   * Backs up the database as it is now. The returned function restores that state, as an operator restores a backup, and
   * resolves to a store that was opened afterwards. `store` and `rival` stay open all the time.
   */
  backUp?(): Promise<() => Promise<Store<Tx>>>
  /**
   * Moves the database's clock by this much. If that is impossible, it moves all stored times by the same amount the other way,
   * which looks the same to the store.
   */
  moveClock?(ms: number): Promise<void>
  /** Closes both stores and everything that was opened for them, and removes the data. */
  close(): Promise<void>
}

/**
 * One rule that every store must keep, as data: bind it to any test runner. It throws, through `node:assert`, if the store
 * breaks the rule.
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
