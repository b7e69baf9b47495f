import type { Cell } from '../cells.ts'
import type { PostgresJsShape } from '../client-shapes.ts'
import type { Answer, Call, Runner } from '../connection.ts'
import { explained } from '../errors.ts'
import type { Statement } from '../statement.ts'
import type { JsQuery, RawResult } from './query.ts'

/** Our statements on any `sql` of postgres.js. `raw` keeps the user's parsers and transforms away from them. */
export class JsRunner implements Runner {
  readonly #sql: Pick<PostgresJsShape, 'unsafe'>
  readonly #prepare: boolean
  readonly #settled: <T>(query: JsQuery) => Promise<T>

  /** `settled` starts the query and waits for it. */
  constructor(
    sql: Pick<PostgresJsShape, 'unsafe'>,
    prepare: boolean,
    settled: <T>(query: JsQuery) => Promise<T> = (query) => query as Promise<unknown> as Promise<never>,
  ) {
    this.#sql = sql
    this.#prepare = prepare
    this.#settled = settled
  }

  async run({ name, text }: Statement, values: readonly Cell[]): Promise<Answer> {
    const query: JsQuery = this.#sql.unsafe(text, [...values], { prepare: this.#prepare && name !== '', simple: false })
    try {
      const result = await this.#settled<RawResult>(query.raw())
      const rows = Array.from(result, (row) => row.map((cell) => (cell === null ? null : cell.toString('utf8'))))
      return { rows, count: result.count ?? 0 }
    } catch (error) {
      throw explained(error)
    }
  }

  /** Not awaited in between: postgres.js sends them in one go. In a transaction that has failed the rest fails too. */
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

/** Several statements have several results, but only where they return rows. */
export function lastTag(result: RawResult | readonly RawResult[]): string {
  const last = 'command' in result ? result : (result.at(-1) as RawResult | undefined)
  return last?.command ?? ''
}
