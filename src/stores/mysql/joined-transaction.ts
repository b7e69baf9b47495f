import type { Loan, LoanOptions, RecordKey } from '../../contracts/index.ts'
import { JustonceError, txNotOpen, wrapperName, wrongTx } from '../../errors/index.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import type { Connections } from './connections.ts'
import { endsTransaction, isLostConnection, isMissingSavepoint } from './errors.ts'
import { lentConnection } from './lent-connection.ts'
import { type Claims, provisionalClaims, Suspension } from './provisional.ts'
import { rollBackTo } from './roll-back-to.ts'
import { type Answer, type Runner, runOn, serverFlags } from './runner.ts'
import type { Server } from './server.ts'
import { suspendFor } from './session-keeper.ts'
import type { Tables } from './tables.ts'
import { removeClaims } from './take-back.ts'

type Servers<Native extends MysqlConnectionShape> = Pick<Connections<Native>, 'serverBehind'>

/** What the store remembers about a transaction of the application that it has joined. */
export class JoinedTransaction<Native extends MysqlConnectionShape> implements Runner {
  readonly #native: Native
  readonly #tables: Tables
  readonly #servers: Servers<Native>
  readonly #reading = { backslashesAreLetters: false }
  #suspension = this.#newSuspension()
  /** How often a borrower has run something that may have committed. After that, our statements might be durable one by one. */
  #doubts = 0
  /** How many of these doubts the server has cleared up: the transaction was still there. */
  #settled = 0
  #claims: Claims[] = []
  #depth = 0
  #server: Server | undefined
  #ended: JustonceError | undefined

  constructor(native: Native, tables: Tables, servers: Servers<Native>) {
    this.#native = native
    this.#tables = tables
    this.#servers = servers
  }

  /** If the server has ended the transaction, the next statement would be its own transaction, and durable. */
  async run(sql: string): Promise<Answer> {
    while (this.#doubts > this.#settled) await this.#checkStillOpen()
    return await this.#send(sql)
  }

  /** Sends the statement before it returns, if the server is already known. */
  async #send(sql: string): Promise<Answer> {
    if (this.#ended !== undefined) throw this.#ended
    this.#server ??= await this.#servers.serverBehind(this.#native)
    const { timeoutsEndTransactions } = this.#server
    try {
      return await runOn(this.#native, sql, this.#server)
    } catch (error) {
      if (isMissingSavepoint(error) || endsTransaction(error, timeoutsEndTransactions)) throw this.#endedBy(error)
      throw error
    }
  }

  claimed(token: string, keys: readonly RecordKey[]): void {
    if (keys.length === 0 || this.#depth === 0) return
    this.#claims.push({ token, keys })
    this.#suspension.add(provisionalClaims(this.#tables, { token, keys }))
  }

  get claims(): readonly Claims[] {
    return this.#claims
  }

  async inSavepoint<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (this.#depth === 0) this.#beginAnew()
    const { status } = await this.run(`SAVEPOINT ${name}`)
    // Here MySQL would run every statement as its own transaction.
    if (standsAlone(status)) throw txNotOpen('Call beginTransaction() on this connection first.')
    this.#depth++
    try {
      const value = await work()
      while (this.#doubts > this.#settled) await this.#checkStillOpen()
      if (this.#depth === 1) await this.#suspension.resume()
      await this.run(`RELEASE SAVEPOINT ${name}`)
      return value
    } catch (error) {
      this.#suspension.rolledBack()
      await rollBackTo(this, name).catch((failure: unknown) => {
        if (!isLostConnection(failure)) this.#endedBy(failure)
      })
      // The error of the work matters more, unless nothing could be rolled back.
      if (this.#ended === undefined) throw error
      await this.#takeBack()
      throw this.#ended
    } finally {
      this.#depth--
    }
  }

  lend(options: LoanOptions): Loan<Native> {
    const native = this.#native
    return lentConnection(native, options, {
      isOver: () => false,
      // The session belongs to the application, so nothing in it is restored.
      keeper: () => ({
        before: (sql, reading) => {
          if (suspendFor(this.#suspension, sql, reading).isOpaque) this.#doubts++
        },
        end() {},
      }),
      untilGone: (promise) => promise,
      async tidy(statements) {
        for (const sql of statements) await native.query(sql)
      },
      rules: {
        timeoutsEndTransactions: this.#server?.timeoutsEndTransactions ?? false,
        prefix: this.#tables.prefix,
        isNowhere: false,
        reading: this.#reading,
      },
    })
  }

  #beginAnew(): void {
    this.#ended = undefined
    this.#claims = []
    this.#settled = this.#doubts
    this.#suspension = this.#newSuspension()
  }

  /** Its statements are sent right before that of the borrower, without clearing up any doubts first. */
  #newSuspension(): Suspension {
    return new Suspension({ run: (sql) => this.#send(sql) })
  }

  async #checkStillOpen(): Promise<void> {
    const doubts = this.#doubts
    const { status } = await this.#send('DO 0')
    if (standsAlone(status)) throw this.#endedBy(new Error('A statement inside it has committed it.'))
    this.#settled = Math.max(this.#settled, doubts)
  }

  /** The transaction may have been committed rather than rolled back. */
  async #takeBack(): Promise<void> {
    const server = this.#server as Server
    const runner = { run: (sql: string) => runOn(this.#native, sql, server) }
    await removeClaims(runner, this.#tables, this.#claims).catch(() => {})
  }

  #endedBy(cause: unknown): JustonceError {
    this.#ended ??= new JustonceError('TX_ENDED', {
      message: 'The transaction that was joined has ended; what is done on its connection now commits by itself.',
      cause,
    })
    return this.#ended
  }
}

/** One for each connection that was passed to `within`. */
export class JoinedTransactions<Native extends MysqlConnectionShape> {
  readonly #byTx = new WeakMap<object, JoinedTransaction<Native>>()
  readonly #tables: Tables
  readonly #servers: Servers<Native>

  constructor(tables: Tables, servers: Servers<Native>) {
    this.#tables = tables
    this.#servers = servers
  }

  get(tx: Native): JoinedTransaction<Native> {
    const known = this.#byTx.get(tx)
    if (known !== undefined) return known
    const joined = new JoinedTransaction(checked(tx), this.#tables, this.#servers)
    this.#byTx.set(tx, joined)
    return joined
  }
}

/** Whether the next statement would be its own transaction. */
function standsAlone(status: number): boolean {
  return (status & serverFlags.autocommit) !== 0 && (status & serverFlags.inTransaction) === 0
}

/** Rejects a pool, a connection with callbacks, and wrappers of connections. */
function checked<Native extends MysqlConnectionShape>(tx: Native): Native {
  const { query, getConnection, promise } = (tx ?? {}) as { [Name in 'query' | 'getConnection' | 'promise']?: unknown }
  const isPlain = getConnection === undefined && promise === undefined && wrapperName(tx) === undefined
  if (typeof query === 'function' && isPlain) return tx
  throw wrongTx(tx, 'the connection of mysql2/promise on which beginTransaction() was called')
}
