import type { PgClientShape } from '../client-shapes.ts'
import type { Answer, Call, Runner } from '../connection.ts'
import { explained } from '../errors.ts'
import type { Statement } from '../statement.ts'
import type { Cell } from '../values-as-text.ts'
import { nativeOf } from './natives.ts'
import { RoundTrip, wireOf } from './round-trip.ts'

interface PgResult {
  readonly rows: readonly (readonly Cell[])[]
  readonly rowCount: number | null
  readonly command: string
}

/** The user may have changed how values are parsed, for the client or for the whole process. Ours stay text. */
export const asText = { getTypeParser: () => (value: string) => value }

/** Runs our statements on any `pg` client, one at a time and without names. */
export class PgRunner implements Runner {
  readonly #client: Pick<PgClientShape, 'query'>
  readonly #canFly: boolean

  constructor(client: Pick<PgClientShape, 'query'>) {
    this.#client = client
    this.#canFly = wireOf(nativeOf(client)) !== undefined
  }

  async run(statement: Statement, values: readonly Cell[]): Promise<Answer> {
    if (this.#canFly) return await this.#fly(statement, values)
    try {
      const config = { text: statement.text, values, rowMode: 'array', types: asText }
      const { rows, rowCount }: PgResult = await this.#client.query(config)
      return { rows, count: rowCount ?? 0 }
    } catch (error) {
      throw explained(error)
    }
  }

  /** Used wherever possible, because a client with `binary: true` would get any other query answered in another format. */
  #fly(statement: Statement, values: readonly Cell[]): Promise<Answer> {
    const trip = new RoundTrip({ prepare: false, explain: explained })
    const answer = trip.add(statement, values)
    trip.send()
    this.#client.query(trip)
    return answer
  }

  async runInTurn(calls: readonly Call[]): Promise<readonly Answer[]> {
    const answers: Answer[] = []
    for (const { statement, values } of calls) answers.push(await this.run(statement, values))
    return answers
  }

  runAll(statements: readonly Statement[]): Promise<string> {
    return this.script(statements.map(({ text }) => text).join('; '))
  }

  async script(text: string): Promise<string> {
    const results: PgResult | readonly PgResult[] = await this.#client.query(text)
    const last = Array.isArray(results) ? results.at(-1) : results
    return last?.command ?? ''
  }
}
