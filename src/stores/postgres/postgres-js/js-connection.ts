import { setTimeout as pause } from 'node:timers/promises'
import { isJustonceError, JustonceError } from '../../../errors/index.ts'
import type { AnswerWatch, Asker } from '../../sql/answer-watch.ts'
import type { CheckOutOptions } from '../../sql/checked-out.ts'
import type { PostgresJsShape } from '../client-shapes.ts'
import type { Answer, Call, Connection, Finished, Opening } from '../connection.ts'
import { explained } from '../errors.ts'
import type { Names } from '../names.ts'
import type { Statement } from '../statement.ts'
import { wasLeftOpen } from '../transactions/left-open.ts'
import type { Cell } from '../values-as-text.ts'
import { guardedSql } from './guarded-sql.ts'
import { inlined } from './inlined.ts'
import { answerIn, JsRunner, lastOf, lastTag } from './js-runner.ts'
import { cancelRunning, type InnerConnection, type JsQuery, type RawResult, sizeOfQuery } from './query.ts'

/** How long a cancelled query may take to stop. */
const graceMs = 1_000
const rollback = 'ROLLBACK; '
/** postgres.js sends its queries in pieces of a kilobyte, and TCP holds the next small one back until the last is acknowledged. */
const mostInOnePiece = 900

/**
 * A reserved connection of postgres.js. When it is lost, postgres.js may reconnect it for another caller while the reserved
 * `sql` still points to it. Anything written then would commit on its own, so even `tx` is guarded.
 */
export class JsConnection<Sql extends PostgresJsShape> implements Connection<Sql>, Asker {
  readonly tx: Sql
  readonly lockWaitMs: number | undefined
  readonly native: Sql
  readonly #runner: JsRunner
  readonly #names: Names
  readonly #waiting = new Map<JsQuery, (error: Error) => void>()
  #opening: Opening | undefined
  #opened: Promise<Answer> | undefined
  #isSeen = true
  /** Whether nothing has been run in the transaction yet. */
  #isFresh = false
  /** The query that postgres.js is sending at this moment. */
  #sending: JsQuery | undefined
  #inner: InnerConnection | undefined
  #lost: Error | undefined
  #gone = false
  #closed = false
  readonly #answers: AnswerWatch
  /** How many of our own queries are without an answer, and when the server was last known to be there. */
  #asked = 0
  #heardAt = 0
  askedBytes = 0

  constructor(sql: Sql, names: Names, answers: AnswerWatch, { lockWaitMs, isPatient }: CheckOutOptions = {}) {
    this.native = sql
    this.lockWaitMs = lockWaitMs
    this.#names = names
    this.#answers = answers
    if (!isPatient) answers.add(this)
    this.tx = guardedSql(sql, {
      refusal: () => (this.#gone ? overError() : this.#lost),
      controlled: overError,
      started: (query) => this.#follow(query),
      ready: () => this.ready(),
    })
    const onexecute = (inner: InnerConnection): boolean => this.#adopt(inner)
    this.#runner = new JsRunner(sql, (query) => this.#settled(query), { onexecute })
  }

  get askedAt(): number | undefined {
    return this.#asked === 0 ? undefined : this.#heardAt
  }

  giveUp(error: Error): void {
    if (this.#gone) return
    this.#onLost(error)
    if (!this.#closed) this.#inner?.terminate()
  }

  readonly skipsAfterFailure = false

  readonly holdsBack = true

  open(opening: Opening): Promise<Answer> {
    this.#opening = opening
    this.#isFresh = true
    return this.#begin(opening, '')
  }

  #begin(opening: Opening, before: string): Promise<Answer> {
    this.#isSeen = false
    const opened = this.#sent(opening, before).catch((error) => {
      if (!wasLeftOpen(error)) throw error
      return this.#sent(opening, rollback)
    })
    this.#opened = opened
    // Callers that wait for the opening see its failure.
    opened.catch(() => {})
    return opened.catch(rethrown)
  }

  async #sent({ begin, seal, settings, settingValues }: Opening, before: string): Promise<Answer> {
    const set = inlined(settings, settingValues)
    const result = await this.#scripted(`${before}${begin.text}; ${seal.text}; ${set}`)
    this.#isSeen = true
    return answerIn(lastOf(result) as RawResult)
  }

  /** Resolves when the opening has succeeded, before which nothing else may be sent; `undefined` if it already has. */
  ready(): Promise<unknown> | undefined {
    this.#isFresh = false
    return this.#isSeen ? undefined : this.#opened
  }

  /** Called by postgres.js when it sends a query, with the connection it uses. */
  readonly #adopt = (inner: InnerConnection): boolean => {
    this.#inner = inner
    inner.onclose = (error) => {
      this.#closed = true
      this.#onLost(error)
    }
    // `true` means that more may be sent behind this query.
    return true
  }

  #onLost(error: Error): void {
    this.#lost ??= error
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const reject of waiting) reject(error)
  }

  /** Also settles queries that postgres.js has not sent yet and forgets when the connection is lost. */
  #settled<T>(query: JsQuery): Promise<T> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost)
    if (this.#asked++ === 0) this.#heardAt = this.#answers.tick
    const bytes = sizeOfQuery(query)
    this.askedBytes += bytes
    return new Promise((resolve, reject) => {
      const stopWatching = this.watch(query, reject)
      const done = (): void => {
        stopWatching()
        this.#asked--
        this.askedBytes -= bytes
        this.#heardAt = this.#answers.tick
      }
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

  /** Calls `onLost` if the connection is lost during the query. The returned function stops watching. */
  watch(query: JsQuery, onLost: (error: Error) => void): () => void {
    this.#waiting.set(query, onLost)
    return () => void this.#waiting.delete(query)
  }

  watchSending(query: JsQuery): void {
    const send = query.handler
    query.handler = (given) => {
      this.#sending = query
      try {
        return send(given)
      } finally {
        this.#sending = undefined
      }
    }
  }

  /**
   * If a value cannot be sent while other queries are being answered, postgres.js rejects the query whose answer is next, and
   * the one with the value later gets the answer to another query. So nothing may use the connection any more.
   */
  rejecting(query: JsQuery, error: unknown): void {
    const unsent = this.#sending
    if (unsent === undefined || unsent === query || this.#lost !== undefined) return
    this.#sending = undefined
    unsent.reject(error)
    this.#onLost(endedError())
    void this.#terminate()
  }

  async run(statement: Statement, values: readonly Cell[]): Promise<Answer> {
    const isFirst = this.#isFresh
    this.#isFresh = false
    if (isFirst && statement.goesAlong === true) return await this.#runFirst(statement, values)
    if (!this.#isSeen) await this.#opened
    return await this.#runner.run(statement, values)
  }

  async #runFirst(statement: Statement, values: readonly Cell[]): Promise<Answer> {
    try {
      return await this.#runAlong(statement, values)
    } catch (error) {
      if (!wasLeftOpen(error)) throw error
      // It failed together with the opening, which has been repeated since.
      await this.#opened
      return await this.#runner.run(statement, values)
    }
  }

  async #runAlong(statement: Statement, values: readonly Cell[]): Promise<Answer> {
    if (!this.#names.isUsed || statement.name === '') return await this.#runner.run(statement, values)
    try {
      return await this.#runner.runPrepared(statement, values)
    } catch (error) {
      if (!isJustonceError(error, 'STATEMENT_LOST')) throw error
      this.#names.lost()
      // Nothing has been done in this transaction yet.
      await this.#begin(this.#opening as Opening, rollback)
      return await this.#runner.run(statement, values)
    }
  }

  async runInTurn(calls: readonly Call[]): Promise<readonly Answer[]> {
    await this.ready()
    return await this.#runner.runInTurn(calls)
  }

  runAll(statements: readonly Statement[]): Promise<string> {
    return this.script(statements.map(({ text }) => text).join('; '))
  }

  runAhead(statements: readonly Statement[]): Promise<unknown> {
    const text = statements.map((statement) => statement.text).join('; ')
    const opening = this.ready()
    // The calls of a borrower wait for the same promise, and later.
    return opening === undefined ? this.#scripted(text) : opening.then(() => this.#scripted(text))
  }

  finish(writes: readonly Call[], ending: readonly Statement[]): Finished {
    const texts = writes.map(({ statement, values }) => inlined(statement, values))
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0)
    const written = writes.map(({ statement, values }) => this.#runner.run(statement, values))
    // Only what is sent as a whole surely fails as a whole.
    const isOnePiece = bytes < mostInOnePiece && !texts.includes(undefined)
    return { written, tag: isOnePiece ? this.runAll(ending) : Promise.all(written).then(() => this.runAll(ending)) }
  }

  async script(text: string): Promise<string> {
    await this.ready()
    return lastTag(await this.#scripted(text))
  }

  async #scripted(text: string): Promise<RawResult | readonly RawResult[]> {
    const result = await this.#settled<RawResult>(this.native.unsafe(text, [], { onexecute: this.#adopt }).raw())
    if (this.#inner === undefined) throw unknownVersion()
    return result
  }

  /** postgres.js always does. */
  pipeline(): void {}

  readonly canPipeline = true

  lost(): Error | undefined {
    return this.#lost
  }

  inTransaction(): undefined {
    return undefined
  }

  isInside(): boolean {
    return false
  }

  isMisread(): boolean {
    return false
  }

  release(): void {
    if (this.#gone) return
    this.#gone = true
    this.#answers.delete(this)
    // A lost connection has already been returned, and must not be returned twice.
    if (this.#lost !== undefined) return
    if (this.#inner !== undefined) this.#inner.onclose = null
    this.native.release()
  }

  discard(): void {
    if (this.#gone) return
    this.#gone = true
    this.#answers.delete(this)
    if (this.#lost !== undefined) return
    const isIdle = this.#waiting.size === 0
    cancelRunning(this.#waiting.keys())
    this.#onLost(endedError())
    if (isIdle) this.#inner?.terminate()
    else void this.#terminate()
  }

  /** If postgres.js terminates a connection in the middle of a query, its `sql.end()` waits forever. */
  async #terminate(): Promise<void> {
    const hasStopped = this.native.unsafe('ROLLBACK').catch(() => {})
    await Promise.race([hasStopped, pause(graceMs, undefined, { ref: false })])
    // Once closed, the connection may already belong to another caller.
    if (!this.#closed) this.#inner?.terminate()
  }
}

function rethrown(error: unknown): never {
  throw explained(error)
}

function endedError(): Error {
  return Object.assign(new Error('The store has ended the connection'), { code: 'CONNECTION_DESTROYED' })
}

function overError(): JustonceError {
  return new JustonceError('TX_CLOSED', {
    message: 'Something other than the tx of an open transaction was used.',
  })
}

function unknownVersion(): JustonceError {
  return new JustonceError('OPTION_INVALID', {
    message: 'sql is from a version of postgres.js that does not say which connection runs a query; version 3.4 does.',
  })
}
