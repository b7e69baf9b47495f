import type { Loan, LoanOptions, RecordKey } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import type { MysqlConnection } from './connection.ts'
import { lentConnection } from './lent-connection.ts'
import { type Answer, type Runner, runOn } from './runner.ts'

/** Gone when the transaction has ended in whichever way: so whoever can release it is still in the same one. */
export const mark = 'justonce_begin'

/** Rows that one claim has made. */
export interface Claims {
  readonly token: string
  readonly keys: readonly RecordKey[]
}

/** What the store remembers about a transaction that it has opened. */
export class OpenTransaction<Native extends MysqlConnectionShape> implements Runner {
  readonly connection: MysqlConnection<Native>
  /** The connection as the work gets it. It is guarded like that of a borrower: no seal would stop its commit. */
  readonly tx: Native
  readonly #loans: Loan<Native>[] = []
  /** Something other than a claim has been done in it: a claim that fails cannot be repeated alone. */
  touched = false
  over = false
  readonly #claims: Claims[] = []

  constructor(connection: MysqlConnection<Native>) {
    this.connection = connection
    this.tx = this.lend({ borrower: 'the work of the transaction', onLateCall: () => {} }).tx
  }

  claimed(token: string, keys: readonly RecordKey[]): void {
    this.touched = true
    if (keys.length > 0) this.#claims.push({ token, keys })
  }

  get claims(): readonly Claims[] {
    return this.#claims
  }

  async run(sql: string): Promise<Answer> {
    this.touched = true
    return await this.connection.run(sql)
  }

  lend(options: LoanOptions): Loan<Native> {
    const { native, server } = this.connection
    const loan = lentConnection(native, {
      ...options,
      isOver: () => this.over,
      lost: () => this.connection.lost(),
      timeoutsEndTransactions: server.timeoutsEndTransactions,
      untilGone: (promise) => this.connection.untilGone(promise),
      onCall: () => {
        this.touched = true
      },
    })
    this.#loans.push(loan)
    return loan
  }

  openCalls(): number {
    return this.#loans.reduce((sum, loan) => sum + loan.openCalls(), 0)
  }

  broken(): Error | undefined {
    return this.#loans.map((loan) => loan.broken()).find((error) => error !== undefined)
  }
}

/** Finds the transaction that a connection is in, where it is one of ours. */
export class OpenTransactions<Native extends MysqlConnectionShape> {
  readonly #byTx = new WeakMap<object, OpenTransaction<Native>>()

  add(connection: MysqlConnection<Native>): OpenTransaction<Native> {
    const transaction = new OpenTransaction(connection)
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

  /** For what only the owner of a transaction may do: outside of one, a claim would be durable before its effects. */
  get(tx: Native): OpenTransaction<Native> {
    const transaction = this.find(tx)
    if (transaction !== undefined) return transaction
    throw new JustonceError('TX_CLOSED', {
      message: 'The MySQL store was given a tx whose transaction it has not opened, or that is over.',
    })
  }

  /** For what may as well be done in a transaction of the application. */
  runner(tx: Native): Runner {
    return this.find(tx) ?? { run: (sql) => runOn(tx, sql) }
  }
}
