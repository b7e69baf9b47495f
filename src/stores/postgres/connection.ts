import type { LoanOptions } from '../../contracts/index.ts'
import type { AnswerWatch } from '../sql/answer-watch.ts'
import type { LedgerLoan } from '../sql/call-ledger.ts'
import type { CheckOutOptions } from '../sql/checked-out.ts'
import type { Statement } from './statement.ts'
import type { Cell } from './values-as-text.ts'

export interface Answer {
  readonly rows: readonly (readonly Cell[])[]
  /** How many rows the statement has returned or changed. */
  readonly count: number
}

export interface Call {
  readonly statement: Statement
  readonly values: readonly Cell[]
}

/** Runs our statements inside a transaction, ours or the caller's. */
export interface Runner {
  run(statement: Statement, values: readonly Cell[]): Promise<Answer>
  /** Runs several statements, in one round trip if the client can, each only if those before succeeded. One answer each. */
  runInTurn(calls: readonly Call[]): Promise<readonly Answer[]>
  /** Runs statements without values in one round trip, each only if those before succeeded. Resolves to the last one's tag. */
  runAll(statements: readonly Statement[]): Promise<string>
  /** Like `runAll`, for a text that is not worth preparing. */
  script(text: string): Promise<string>
}

/** The first statements of a transaction. They are sent together, and with the statement that is run first. */
export interface Opening {
  readonly begin: Statement
  readonly seal: Statement
  readonly settings: Statement
  readonly settingValues: readonly Cell[]
}

export interface Finished {
  readonly written: readonly Promise<unknown>[]
  /** The tag that answers the last statement. */
  readonly tag: Promise<string>
}

/** A client that is exclusively ours, from `checkOut` until `release` or `discard`. */
export interface Connection<Tx> extends Runner {
  readonly tx: Tx
  /**
   * Begins a transaction ahead of every later call. When that has succeeded, resolves to what the settings returned. The
   * first statement may travel with it; everything else waits until then. If the server has forgotten a named statement, the
   * opening does not fail: it is repeated without names.
   */
  open(opening: Opening): Promise<Answer>
  /** Like `runAll`, but sent when it is called: whatever is sent later, by anyone, comes behind it, and need not wait for it. */
  runAhead(statements: readonly Statement[]): Promise<unknown>
  /**
   * Runs the writes and then the statements that commit, in one round trip if the client can. If any of it fails, or cannot be
   * sent, nothing behind it takes effect. `written` has a promise for each write.
   */
  finish(writes: readonly Call[], ending: readonly Statement[]): Finished
  /** Whether it is certain that nothing, even a call of the native client, takes effect outside the opened transaction. */
  readonly holdsBack: boolean
  /** Whether the server skips what travels with the opening if the opening fails. */
  readonly skipsAfterFailure: boolean
  /** Whether statements are sent without waiting for the answers to earlier ones, as far as the client can do that. */
  pipeline(isOn: boolean): void
  /** Whether `pipeline` makes a difference, or the client does so anyway. */
  readonly canPipeline: boolean
  /** The error if the connection is known to be gone; after that nothing may be run on it. */
  lost(): Error | undefined
  /** `false` if the client has seen that no transaction is open; `undefined` if it cannot tell. */
  inTransaction(): boolean | undefined
  /** Whether the last statement was run inside a transaction. `false` also if the client cannot tell. */
  isInside(): boolean
  /** Whether the client has seen that the server takes what it sends for text in another encoding. */
  isMisread(): boolean
  /** Returns a connection that is known to have no open transaction to the pool. */
  release(): void
  /** The connection is never used again. What runs on it is cut off, here and in the server. */
  discard(): void
}

/** What all loans of one transaction have in common. */
export interface LendSite {
  isOver(): boolean
  /** Returns the statements that restore what a borrower has changed in the session. Absent if the session is the caller's. */
  restore?(names: readonly string[]): readonly string[]
  /** The query to run before these settings are changed, so that they can be restored. */
  lookBefore?(names: readonly string[]): LookBefore | undefined
  /** Whether any call may change session settings, whatever its text says. */
  readonly changesUnseen?: boolean
  /** Called before something is created that belongs to the session. */
  onLeft?(): void
}

export type Lender<Tx> = (options: LoanOptions) => LedgerLoan<Tx>

export interface LookBefore {
  readonly text: string
  found(row: readonly Cell[]): void
}

export interface ConnectionSettings {
  /** Whether statements are prepared under names. */
  readonly prepare: boolean
  readonly answers: AnswerWatch
}

/** The user's pool, of either client library. */
export interface Connections<Tx> {
  /** The maximum number of connections. */
  readonly max: number
  checkOut(options: CheckOutOptions): Promise<Connection<Tx>>
  /** Runs one statement in its own transaction. */
  runAlone(statement: Statement, values: readonly Cell[]): Promise<Answer>
  /** Uses the caller's client, with a transaction that the caller has opened. */
  join(tx: Tx): Runner
  /** Returns what lends `tx`, for all loans of one transaction. `connection` is absent if the transaction is the caller's. */
  lender(tx: Tx, connection: Connection<Tx> | undefined, site: LendSite): Lender<Tx>
  /** Calls back for every notification, and after every (re)connection, because some may have been missed. */
  listen(channel: string, heard: (payload: string | undefined) => void): Promise<() => Promise<void>>
}

/** `finish` of a client that cannot send a statement before it has the answer to the one before. */
export function oneByOne(runner: Runner, writes: readonly Call[], ending: readonly Statement[]): Finished {
  let last: Promise<unknown> = Promise.resolve()
  const written = writes.map(({ statement, values }) => {
    last = last.then(() => runner.run(statement, values))
    return last
  })
  return { written, tag: last.then(() => runner.runAll(ending)) }
}
