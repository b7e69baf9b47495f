import type { AnswerWatch } from '../../sql/answer-watch.ts'
import type { PostgresJsShape } from '../client-shapes.ts'
import type { Answer, Call, Runner } from '../connection.ts'
import { explained } from '../errors.ts'
import type { Statement } from '../statement.ts'
import { unlessInside } from '../transactions/left-open.ts'
import type { Cell } from '../values-as-text.ts'
import { inlined } from './inlined.ts'
import { type InnerConnection, type JsQuery, type RawResult, sizeOfQuery } from './query.ts'

/**
 * Runs our statements on any `sql` of postgres.js. `raw` keeps the user's parsers and transforms away from them. A name is
 * used for at most one statement at a time: see `inlined`.
 */
export class JsRunner implements Runner {
  readonly #sql: Pick<PostgresJsShape, 'unsafe'>
  readonly #settled: <T>(query: JsQuery) => Promise<T>
  readonly #also: object
  readonly #answers: AnswerWatch | undefined

  /**
   * `settled` starts the query and waits for it; `also` holds options for every query. `answers`: for queries on whichever
   * connection is free, which nobody else watches.
   */
  constructor(
    sql: Pick<PostgresJsShape, 'unsafe'>,
    settled: <T>(query: JsQuery) => Promise<T> = (query) => query as Promise<unknown> as Promise<never>,
    also: object = {},
    answers?: AnswerWatch,
  ) {
    this.#answers = answers
    this.#also = also
    this.#sql = sql
    this.#settled = settled
  }

  run(statement: Statement, values: readonly Cell[]): Promise<Answer> {
    const text = inlined(statement, values)
    return text === undefined ? this.runPrepared(statement, values, false) : this.#answer(text, [], { simple: true })
  }

  /** Runs the statement in its own transaction, or not at all. */
  runAlone(statement: Statement, values: readonly Cell[]): Promise<Answer> {
    const text = inlined(statement, values)
    if (text === undefined) return this.runPrepared(statement, values, false)
    // The order matters: postgres.js separates results only if the next one has rows.
    return this.#answer(`${text}; ${unlessInside}`, [], { simple: true })
  }

  /** Runs the statement by its name, unless `prepare` is `false`. */
  runPrepared({ text }: Statement, values: readonly Cell[], prepare = true): Promise<Answer> {
    return this.#answer(text, values, { prepare, simple: false })
  }

  async #answer(text: string, values: readonly Cell[], options: object): Promise<Answer> {
    try {
      const result = await this.#asked(text, values, options)
      return answerIn('command' in result ? result : (result[0] as RawResult))
    } catch (error) {
      throw explained(error)
    }
  }

  #asked(text: string, values: readonly Cell[], options: object): Promise<RawResult | readonly RawResult[]> {
    const answers = this.#answers
    let inner: InnerConnection | undefined
    // `true` means that more may be sent behind this query.
    const onexecute = (given: InnerConnection): boolean => {
      inner = given
      return true
    }
    const watched = answers === undefined ? this.#also : { ...this.#also, onexecute }
    const query: JsQuery = this.#sql.unsafe(text, [...values], { ...watched, ...options })
    const answer = this.#settled<RawResult | readonly RawResult[]>(query.raw())
    return answers === undefined ? answer : answers.until(answer, () => inner?.terminate(), sizeOfQuery(query))
  }

  /** Nothing is awaited in between, so postgres.js sends them together. In a failed transaction the rest fail too. */
  runInTurn(calls: readonly Call[]): Promise<readonly Answer[]> {
    return Promise.all(calls.map(({ statement, values }) => this.run(statement, values)))
  }

  runAll(statements: readonly Statement[]): Promise<string> {
    return this.script(statements.map(({ text }) => text).join('; '))
  }

  async script(text: string): Promise<string> {
    return lastTag(await this.#settled(this.#sql.unsafe(text)))
  }
}

/** Several statements have several results, but only if they return rows. */
export function lastTag(result: RawResult | readonly RawResult[]): string {
  return lastOf(result)?.command ?? ''
}

export function lastOf(result: RawResult | readonly RawResult[]): RawResult | undefined {
  return 'command' in result ? result : (result.at(-1) as RawResult | undefined)
}

export function answerIn(result: RawResult): Answer {
  const rows: Cell[][] = []
  // postgres.js counts on from the rows of a query that failed on the same connection. forEach skips the places that it left empty.
  result.forEach((row) => void rows.push(row.map((cell) => (cell === null ? null : cell.toString('utf8')))))
  return { rows, count: result.count ?? 0 }
}
