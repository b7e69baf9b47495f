import { Link, type Network } from '../link.ts'
import type { SimProcess } from '../process.ts'
import type { ServerTransaction } from './server-transaction.ts'
import type { SimDatabase } from './sim-database.ts'

/** The server's side of a connection, as a statement sees it. */
export interface Session {
  readonly database: SimDatabase
  transaction: ServerTransaction | undefined
  lockTimeoutMs: number
  idleTimeoutMs: number
  /** Where tables are looked for; empty: where they should be. */
  place: string
  /** What `place` was when the last transaction was opened. */
  left: string
}

export type Statement<T> = (session: Session) => T | Promise<T>

/** A connection from a process to the database. When it is lost, for whatever reason, its open transaction is undone. */
export class SimConnection {
  readonly #link: Link
  readonly #session: Session
  readonly #network: Network
  #idle: { cancel(): void } | undefined

  constructor(process: SimProcess, database: SimDatabase, network: Network) {
    this.#network = network
    this.#session = {
      database,
      transaction: undefined,
      lockTimeoutMs: 1_000,
      idleTimeoutMs: 60_000,
      place: '',
      left: '',
    }
    this.#link = new Link(process, network)
    const disconnect = database.connected((why) => this.#link.lose(why))
    this.#link.onLost(() => {
      this.#idle?.cancel()
      disconnect()
      if (this.#session.transaction !== undefined) database.rollback(this.#session.transaction)
      this.#session.transaction = undefined
    })
  }

  get isLost(): boolean {
    return this.#link.isLost
  }

  call<T>(step: string, statement: Statement<T>): Promise<T> {
    return this.#link.call(step, () => this.#execute(statement))
  }

  /** Somebody else changes the session, at once. */
  change(change: (session: Session) => void): void {
    if (!this.isLost) change(this.#session)
  }

  discard(): void {
    this.#link.lose('connection was discarded')
  }

  /** An error aborts the transaction; whatever comes after it is refused, as Postgres does. */
  async #execute<T>(statement: Statement<T>): Promise<T> {
    this.#idle?.cancel()
    const { transaction } = this.#session
    try {
      return await statement(this.#session)
    } catch (error) {
      if (transaction !== undefined) transaction.aborted = true
      throw error
    } finally {
      this.#watchIdle()
    }
  }

  /** Ends a holder that has gone silent: frozen, vanished, or lost in the network. */
  #watchIdle(): void {
    if (this.#session.transaction === undefined || this.isLost) return
    this.#idle = this.#network.scheduler.after(this.#session.idleTimeoutMs, () =>
      this.#link.lose('terminated: idle in transaction'),
    )
  }
}
