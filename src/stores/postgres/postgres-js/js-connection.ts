import { setTimeout as pause } from 'node:timers/promises'
import { JustonceError } from '../../../errors/index.ts'
import type { Cell } from '../cells.ts'
import type { PostgresJsShape } from '../client-shapes.ts'
import type { Answer, Call, Connection, Opened, Opening } from '../connection.ts'
import type { Statement } from '../statement.ts'
import { guardedSql } from './guarded-sql.ts'
import { JsRunner, lastTag } from './js-runner.ts'
import { cancelRunning, type InnerConnection, type JsQuery, type RawResult } from './query.ts'

/** How long a cancelled query may take to stop. */
const graceMs = 1_000

/**
 * A reserved connection of postgres.js. When such a connection is lost, postgres.js may connect it anew for somebody
 * else while the reserved `sql` still points to it: what is written then would commit by itself. So not even `tx` is
 * the bare one.
 */
export class JsConnection<Sql extends PostgresJsShape> implements Connection<Sql> {
  readonly tx: Sql
  readonly native: Sql
  readonly #runner: JsRunner
  readonly #waiting = new Map<JsQuery, (error: Error) => void>()
  #inner: InnerConnection | undefined
  #lost: Error | undefined
  #gone = false
  #closed = false

  constructor(sql: Sql, prepare: boolean) {
    this.native = sql
    this.tx = guardedSql(sql, {
      refusal: () => (this.#gone ? overError() : this.#lost),
      controlled: overError,
      started: (query) => this.#follow(query),
    })
    this.#runner = new JsRunner(sql, prepare, (query) => this.#settled(query))
  }

  readonly skipsAfterFailure = false

  open({ begin, seal, settings, settingValues }: Opening): Opened {
    const begun = this.runAll([begin, seal])
    // Not awaited in between: postgres.js sends them, and the claim behind them, in one go.
    const set = this.#runner.run(settings, settingValues)
    return { answer: Promise.all([begun, set]).then(([, answer]) => answer), send: () => {} }
  }

  /** Called by postgres.js as it sends a query, with the connection on which it does so. */
  readonly #adopt = (inner: InnerConnection): boolean => {
    this.#inner = inner
    inner.onclose = (error) => {
      this.#closed = true
      this.#onLost(error)
    }
    // Means: more may be sent behind this query.
    return true
  }

  #onLost(error: Error): void {
    this.#lost ??= error
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const reject of waiting) reject(error)
  }

  /** Also the queries that postgres.js has not sent yet and forgets when the connection is lost. */
  #settled<T>(query: JsQuery): Promise<T> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost)
    return new Promise((resolve, reject) => {
      const done = this.watch(query, reject)
      query.then(
        (value) => {
          done()
          resolve(value as T)
        },
        (error) => {
          done()
          reject(error)
        },
      )
    })
  }

  #follow(query: JsQuery): void {
    const done = this.watch(query, (error) => query.reject(error))
    Promise.prototype.then.call(query, done, done)
  }

  /** Tells when the connection is lost under the query. The result ends it. */
  watch(query: JsQuery, onLost: (error: Error) => void): () => void {
    this.#waiting.set(query, onLost)
    return () => void this.#waiting.delete(query)
  }

  run(statement: Statement, values: readonly Cell[]): Promise<Answer> {
    return this.#runner.run(statement, values)
  }

  runInTurn(calls: readonly Call[]): Promise<readonly Answer[]> {
    return this.#runner.runInTurn(calls)
  }

  runAll(statements: readonly Statement[]): Promise<string> {
    return this.script(statements.map(({ text }) => text).join('; '))
  }

  async script(text: string): Promise<string> {
    const result = await this.#settled<RawResult>(this.native.unsafe(text, [], { onexecute: this.#adopt }))
    if (this.#inner === undefined) throw unknownVersion()
    return lastTag(result)
  }

  lost(): Error | undefined {
    return this.#lost
  }

  inTransaction(): undefined {
    return undefined
  }

  release(): void {
    if (this.#gone) return
    this.#gone = true
    // A lost one has already gone back, and must not go back twice.
    if (this.#lost !== undefined) return
    if (this.#inner !== undefined) this.#inner.onclose = null
    this.native.release()
  }

  discard(): void {
    if (this.#gone) return
    this.#gone = true
    if (this.#lost !== undefined) return
    cancelRunning(this.#waiting.keys())
    this.#onLost(Object.assign(new Error('The store has ended the connection'), { code: 'CONNECTION_DESTROYED' }))
    void this.#terminate()
  }

  /** A connection that postgres.js terminates in the middle of a query keeps its `sql.end()` waiting for ever. */
  async #terminate(): Promise<void> {
    const hasStopped = this.native.unsafe('ROLLBACK').catch(() => {})
    await Promise.race([hasStopped, pause(graceMs, undefined, { ref: false })])
    // Once closed it may already be somebody else's.
    if (!this.#closed) this.#inner?.terminate()
  }
}

function overError(): JustonceError {
  return new JustonceError('TX_CLOSED', {
    message: 'The tx of a transaction that is over, or a way around it, was used.',
  })
}

function unknownVersion(): JustonceError {
  return new JustonceError('OPTION_INVALID', {
    message: 'sql is a version of postgres.js that does not say which connection runs a query; 3.4 does.',
  })
}
