import type { LastWrites, Loan, LoanOptions, LoanReport } from '../../../contracts/index.ts'
import { JustonceError } from '../../../errors/index.ts'
import type { LedgerLoan } from '../../sql/call-ledger.ts'
import type { Answer, Call, Connection, Connections, Lender, Runner } from '../connection.ts'
import { textIn } from '../values-as-text.ts'
import { SettingsBefore } from './restoring.ts'

export interface LeftWrite {
  readonly call: Call
  blame(error: unknown): unknown
}

/** What the store remembers about a transaction that it has opened. */
export class OpenTransaction<Tx> {
  readonly connection: Connection<Tx>
  readonly #loans: LedgerLoan<Tx>[] = []
  #lender: Lender<Tx> | undefined
  #interleavedLoans = 0
  /** The number of the part that is open once everything that was sent is done; 0 if there is none. */
  part = 0
  over = false
  /** Whether something may have been left in the session that nobody else may encounter. */
  hasLeftovers = false

  /** What the commit must take along. */
  readonly left: LeftWrite[] = []
  #blame: LeftWrite['blame'] | undefined

  readonly #opening: Promise<Answer>
  #epoch: string | undefined
  readonly #before = new SettingsBefore()
  readonly #unseen: readonly string[] | undefined

  constructor(connection: Connection<Tx>, opening: Promise<Answer>, unseen: readonly string[] | undefined) {
    this.connection = connection
    this.#opening = opening
    this.#unseen = unseen
    // Callers that work in the transaction see the failure too.
    opening.then(
      ({ rows: [row] }) => {
        this.#epoch = textIn(row?.[0])
        this.#before.opened(row, unseen)
      },
      () => {},
    )
  }

  /** The epoch at the beginning: rather too old than too new, so that nothing outlives a change of the epoch. */
  epoch(): string | Promise<string> {
    return this.#epoch ?? this.#opening.then(({ rows }) => textIn(rows[0]?.[0]))
  }

  /** Resolves when the transaction has been opened; `undefined` if that is known already. */
  opened(): Promise<unknown> | undefined {
    return this.#epoch === undefined ? this.#opening : undefined
  }

  lend(connections: Connections<Tx>, options: LoanOptions): Loan<Tx> {
    return options.interleaved === true
      ? this.#interleaved(this.#lent(connections, options))
      : this.#lent(connections, options)
  }

  /** The connection pipelines while there are such loans. */
  #interleaved(loan: Loan<Tx>): Loan<Tx> {
    let hasEnded = false
    if (this.#interleavedLoans++ === 0) this.connection.pipeline(true)
    const end = (): LoanReport => {
      const report = loan.end()
      if (!hasEnded && --this.#interleavedLoans === 0) this.connection.pipeline(false)
      hasEnded = true
      return report
    }
    return { ...loan, end }
  }

  #lent(connections: Connections<Tx>, options: LoanOptions): Loan<Tx> {
    this.#lender ??= connections.lender(this.connection.tx, this.connection, {
      isOver: () => this.over,
      restore: (names) => this.#before.restoring(names),
      lookBefore: (names) => this.#before.look(names),
      changesUnseen: this.#unseen !== undefined,
      onLeft: () => {
        this.hasLeftovers = true
      },
    })
    const loan = this.#lender(options)
    this.#loans.push(loan)
    return loan
  }

  /** From here on writes are left for the commit. */
  readonly lastWrites: LastWrites = (blame) => {
    this.#blame = blame
  }

  /** The answers say nothing that matters: a call that has not done what it should fails. */
  async write(calls: readonly Call[]): Promise<void> {
    if (this.#blame === undefined) await this.connection.runInTurn(calls)
    else for (const call of calls) this.left.push({ call, blame: this.#blame })
  }

  openCalls(): number {
    return this.#loans.reduce((sum, loan) => sum + loan.report().openCalls, 0)
  }
}

/** Finds the transaction that a native client is in, if the store has opened it. */
export class OpenTransactions<Tx> {
  readonly #byClient = new WeakMap<object, OpenTransaction<Tx>>()
  readonly #connections: Connections<Tx>

  constructor(connections: Connections<Tx>) {
    this.#connections = connections
  }

  add(
    connection: Connection<Tx>,
    opening: Promise<Answer>,
    unseen: readonly string[] | undefined,
  ): OpenTransaction<Tx> {
    const transaction = new OpenTransaction(connection, opening, unseen)
    this.#byClient.set(connection.tx as object, transaction)
    return transaction
  }

  /** From here on the client belongs to the pool again, or to nobody. */
  close(transaction: OpenTransaction<Tx>): void {
    transaction.over = true
    this.#byClient.delete(transaction.connection.tx as object)
  }

  find(tx: Tx): OpenTransaction<Tx> | undefined {
    return this.#byClient.get(tx as object)
  }

  /** For what only the owner of a transaction may do: outside a transaction, a claim would be durable before its effects. */
  get(tx: Tx): OpenTransaction<Tx> {
    const transaction = this.find(tx)
    if (transaction !== undefined) return transaction
    throw new JustonceError('TX_CLOSED', {
      message: 'The Postgres store was given a tx whose transaction it has not opened, or that is over.',
    })
  }

  /** For what may be left for the commit. */
  async write(tx: Tx, calls: readonly Call[]): Promise<void> {
    await (this.find(tx)?.write(calls) ?? this.#connections.join(tx).runInTurn(calls))
  }

  /** For what may also be done in a transaction of the application. */
  runner(tx: Tx): Runner {
    return this.find(tx)?.connection ?? this.#connections.join(tx)
  }
}
