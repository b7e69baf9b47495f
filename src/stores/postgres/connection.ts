import type { LoanOptions } from '../../contracts/index.ts'
import type { LedgerLoan } from '../sql/call-ledger.ts'
import type { CheckOutOptions } from '../sql/checked-out.ts'
import type { Cell } from './cells.ts'
import type { Statement } from './statement.ts'

export interface Answer {
  readonly rows: readonly (readonly Cell[])[]
  /** How many rows the statement has returned or changed. */
  readonly count: number
}

export interface Call {
  readonly statement: Statement
  readonly values: readonly Cell[]
}

/** Runs our statements inside a transaction, be it our own or the caller's. */
export interface Runner {
  run(statement: Statement, values: readonly Cell[]): Promise<Answer>
  /** Several in one round trip where the client can do that, each only if those before have succeeded. One answer each. */
  runInTurn(calls: readonly Call[]): Promise<readonly Answer[]>
  /** Statements without values in one round trip, each only if those before have succeeded; resolves to the last one's tag. */
  runAll(statements: readonly Statement[]): Promise<string>
  /** The same for a text that is not worth preparing. */
  script(text: string): Promise<string>
}

/** The first statements of a transaction. They travel together, and with what is run first. */
export interface Opening {
  readonly begin: Statement
  readonly seal: Statement
  readonly settings: Statement
  readonly settingValues: readonly Cell[]
}

/** A client that is ours alone, from `checkOut` until `release` or `discard`. */
export interface Connection<Tx> extends Runner {
  readonly tx: Tx
  /**
   * Begins a transaction ahead of every later call; resolves to what the settings have answered, when it was seen to
   * work. The first statement that is run may travel with it; whatever else is run waits until then. A statement that
   * the server has forgotten by its name is no failure of the opening: it is opened again without names.
   */
  open(opening: Opening): Promise<Answer>
  /** Where it is sure, calls of the native client included, that nothing takes effect outside the opened transaction. */
  readonly holdsBack: boolean
  /** When the opening fails, the server does not even look at what travels with it. */
  readonly skipsAfterFailure: boolean
  /** Set when the connection is known to be gone; after that nothing may be run on it. */
  lost(): Error | undefined
  /** False when the client has seen that no transaction is open; undefined when it cannot tell. */
  inTransaction(): boolean | undefined
  /** What was run last was run inside a transaction. False also where the client cannot tell. */
  isInside(): boolean
  /** Back to the pool, for a connection that is known to be without a transaction. */
  release(): void
  /** Never to be used again; what runs on it is cut off, here and in the server. */
  discard(): void
}

export interface LendOptions extends LoanOptions {
  isOver(): boolean
  /** The statements that put right what a borrower has changed of the session; absent where that is its own affair. */
  restore?(names: readonly string[]): readonly string[]
  /** What is to be asked before these are changed, to be able to put them right. */
  lookBefore?(names: readonly string[]): LookBefore | undefined
  /** Something may be changed by every call, whatever its text says. */
  readonly changesUnseen?: boolean
  /** Something is about to be made that belongs to the session. */
  onLeft?(): void
}

export interface LookBefore {
  readonly text: string
  found(row: readonly Cell[]): void
}

/** The user's pool, whichever client it is of. */
export interface ConnectionSource<Tx> {
  /** How many connections it may have. */
  readonly max: number
  checkOut(options: CheckOutOptions): Promise<Connection<Tx>>
  /** One statement in a transaction of its own. */
  runAlone(statement: Statement, values: readonly Cell[]): Promise<Answer>
  /** The caller's client, with a transaction that the caller has opened. */
  join(tx: Tx): Runner
  /** `connection` is absent where the transaction is the caller's. */
  lend(tx: Tx, connection: Connection<Tx> | undefined, options: LendOptions): LedgerLoan<Tx>
  /** Calls back for every notification and after every (re)connection, when some may have been missed. */
  listen(channel: string, heard: (payload: string | undefined) => void): Promise<() => Promise<void>>
}
