import type { PgClientShape } from '../client-shapes.ts'
import { type NativeQuery, type QueryClass, queryClassOf } from './native-query.ts'
import { QueryGroup } from './query-group.ts'

/** What is larger is not worth copying. */
const mostText = 16_384

const mostValues = 1_000

/**
 * Statements of calls that interleave. What they send in one turn of the event loop travels as one query of the client, with one Sync
 * behind all of it: `pg` writes every statement by itself and the server answers every Sync by itself, and both cost more than a small statement.
 */
export class GatheredStatements {
  readonly #client: PgClientShape
  readonly #Query: QueryClass
  #waiting: NativeQuery[] = []

  private constructor(client: PgClientShape, Query: QueryClass) {
    this.#client = client
    this.#Query = Query
  }

  /** `undefined` for clients that cannot do that: those that do not pipeline, and those that are not what they seem. */
  static of(client: PgClientShape, native: object): GatheredStatements | undefined {
    const Query = queryClassOf(client, native)
    const { pipeline, binary, connection } = native as PgPipeline
    const isUsual =
      typeof pipeline === 'boolean' && binary !== true && connection?.submittedNamedStatements !== undefined
    return isUsual && Query !== undefined ? new GatheredStatements(client, Query) : undefined
  }

  /** Returns whether it takes the query. What it does not take is to be sent next. */
  add(query: NativeQuery): boolean {
    const { values = [] } = query
    if (!query.requiresPreparation() || values.length > mostValues || !values.every(isSmall)) {
      this.flush()
      return false
    }
    // They are read when the group is sent, and by then the borrower may have changed them.
    query.values = values.map((value) => (value instanceof Date ? new Date(value) : value))
    this.#waiting.push(query)
    // Everything that this turn resolves runs before, and the network is looked at after: nothing waits for anything else.
    if (this.#waiting.length === 1) process.nextTick(this.flush)
    return true
  }

  /** Sends what is waiting. Needed before anything else is sent, because a borrower may rely on the order of its calls. */
  readonly flush = (): void => {
    if (this.#waiting.length === 0) return
    const queries = this.#waiting
    this.#waiting = []
    this.#client.query(new QueryGroup(queries, this.#client).asQueryOf(this.#Query))
  }
}

interface PgPipeline {
  readonly pipeline?: unknown
  readonly binary?: unknown
  readonly connection?: { readonly submittedNamedStatements?: object }
}

/** Whether a value becomes a small text and certainly no error. */
function isSmall(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= mostText
  return value === null || (typeof value !== 'object' && typeof value !== 'function') || value instanceof Date
}
