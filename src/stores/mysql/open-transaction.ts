import type { Loan, LoanOptions, RecordKey } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import type { LedgerLoan } from '../sql/call-ledger.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import type { MysqlConnection } from './connection.ts'
import type { JoinedTransaction, JoinedTransactions } from './joined-transaction.ts'
import { type LentConnectionSite, lentConnection } from './lent-connection.ts'
import { LoanKeeper } from './loan-keeper.ts'
import { type Claims, type Provisional, provisionalClaims, Suspension } from './provisional.ts'
import type { Answer, Runner } from './runner.ts'
import { baselineOf, type SessionLimits } from './session.ts'
import { SessionKeeper } from './session-keeper.ts'
import type { Tables } from './tables.ts'

/** This savepoint vanishes whenever the transaction ends, so if it can be released, the transaction is still the same. */
export const mark = 'justonce_begin'

/** What the store remembers about a transaction that it has opened. */
export class OpenTransaction<Native extends MysqlConnectionShape> implements Runner {
  readonly connection: MysqlConnection<Native>
  /** The connection as the work gets it. It is guarded like that of a borrower, because no seal would stop its commit. */
  readonly tx: Native
  readonly reading = { backslashesAreLetters: false }
  readonly suspension: Suspension
  readonly #tables: Tables
  readonly #keeper: SessionKeeper
  readonly #site: LentConnectionSite
  readonly #loans: LedgerLoan<Native>[] = []
  /** Whether something other than a claim has been done in it. Then a failed claim cannot be repeated alone. */
  touched = false
  over = false
  readonly #claims: Claims[] = []

  constructor(connection: MysqlConnection<Native>, tables: Tables, limits: SessionLimits) {
    this.connection = connection
    this.#tables = tables
    this.suspension = new Suspension(connection)
    this.#keeper = new SessionKeeper(connection, baselineOf(connection.server, limits), this.suspension)
    this.#site = this.#siteOf(connection)
    this.tx = this.lend({ borrower: 'the work of the transaction', onLateCall: () => {} }).tx
  }

  claimed(token: string, keys: readonly RecordKey[]): void {
    this.touched = true
    if (keys.length === 0) return
    this.#claims.push({ token, keys })
    this.provisional(provisionalClaims(this.#tables, { token, keys }))
  }

  /** Adds something that nobody must find if someone else commits the transaction. */
  provisional(provisional: Provisional): void {
    this.suspension.add(provisional)
  }

  get claims(): readonly Claims[] {
    return this.#claims
  }

  async run(sql: string): Promise<Answer> {
    this.touched = true
    return await this.connection.run(sql)
  }

  lend(options: LoanOptions): Loan<Native> {
    const loan = lentConnection(this.connection.native, options, this.#site)
    this.#loans.push(loan)
    return loan
  }

  #siteOf(connection: MysqlConnection<Native>): LentConnectionSite {
    const { native, server } = connection
    return {
      isOver: () => this.over,
      lost: () => connection.lost(),
      keeper: () => new LoanKeeper(connection, this.#keeper),
      rules: {
        timeoutsEndTransactions: server.timeoutsEndTransactions,
        prefix: this.#tables.prefix,
        isNowhere: server.sessionDatabase === undefined,
        reading: this.reading,
      },
      untilGone: (promise) => connection.untilGone(promise),
      onCall: () => {
        this.touched = true
      },
      async tidy(statements) {
        for (const sql of statements) await connection.untilGone(native.query(sql))
      },
    }
  }

  openCalls(): number {
    return this.#loans.reduce((sum, loan) => sum + loan.report().openCalls, 0)
  }

  broken(): Error | undefined {
    return this.#loans.map((loan) => loan.report().broken).find((error) => error !== undefined)
  }
}

/** Finds the transaction that a connection is in, if the store has opened it. */
export class OpenTransactions<Native extends MysqlConnectionShape> {
  readonly #tables: Tables
  readonly #byTx = new WeakMap<object, OpenTransaction<Native>>()
  readonly #joined: JoinedTransactions<Native>

  constructor(tables: Tables, joined: JoinedTransactions<Native>) {
    this.#tables = tables
    this.#joined = joined
  }

  add(connection: MysqlConnection<Native>, limits: SessionLimits): OpenTransaction<Native> {
    const transaction = new OpenTransaction(connection, this.#tables, limits)
    this.#byTx.set(transaction.tx, transaction)
    return transaction
  }

  close(transaction: OpenTransaction<Native>): void {
    transaction.over = true
    this.#byTx.delete(transaction.tx)
  }

  find(tx: Native): OpenTransaction<Native> | undefined {
    return this.#byTx.get(tx)
  }

  /** For what only the owner of a transaction may do: outside a transaction, a claim would be durable before its effects. */
  get(tx: Native): OpenTransaction<Native> {
    const transaction = this.find(tx)
    if (transaction !== undefined) return transaction
    throw new JustonceError('TX_CLOSED', {
      message: 'The MySQL store was given a tx whose transaction it has not opened, or that is over.',
    })
  }

  joined(tx: Native): JoinedTransaction<Native> {
    return this.#joined.get(tx)
  }

  /** For what may also be done in a transaction of the application. */
  runner(tx: Native): Runner {
    return this.find(tx) ?? this.joined(tx)
  }
}
