import { isLostConnection, sqlState } from '../errors.ts'
import type { NativeQuery, QueryClass } from './native-query.ts'
import { tellListeners } from './tell-listeners.ts'
import { WireMessages } from './wire-messages.ts'

/** What `pg` gives its query objects to write to. */
interface Wire {
  readonly submittedNamedStatements: Record<string, string>
  readonly stream: { write(bytes: Uint8Array): unknown }
}

interface Bound {
  readonly statement?: string
  readonly values?: readonly unknown[]
  readonly valueMapper: (value: unknown) => string | null
}

/**
 * Query objects of `pg` that travel as one. They are inside a transaction: if one fails, the server skips those behind it, where it would refuse
 * them if each had a Sync of its own.
 */
export class QueryGroup {
  readonly #queries: readonly NativeQuery[]
  readonly #client: { readonly _types?: unknown }
  /** Those that have reached the server, or may still reach it. */
  #sent: readonly NativeQuery[]
  #answered = 0
  /** How many of them have been told how they ended. */
  #told = 0
  /** Those that have the server parse a text under a name. */
  readonly #parsing = new Set<NativeQuery>()

  constructor(queries: readonly NativeQuery[], client: object) {
    this.#queries = queries
    this.#sent = queries
    this.#client = client
  }

  /** While it pipelines, `pg` takes only objects of its own class. */
  asQueryOf(Query: QueryClass): NativeQuery {
    const query = new Query('', undefined)
    const ended = (error?: unknown): void => {
      query.callback?.(error ?? null)
      tellListeners(query, error)
    }
    Object.defineProperties(query, {
      // With these `pg` keeps account of what the server has parsed. Tools for tracing replace the text of a query where they can, and copy what
      // has no name.
      name: { get: () => this.#current?.name ?? '', configurable: false },
      text: { get: () => (this.#current ?? this.#queries[0])?.text, configurable: false },
    })
    const own: Partial<NativeQuery> = {
      submit: (wire) => this.#submit(wire as Wire),
      handleRowDescription: (message) => this.#current?.handleRowDescription(message),
      handleDataRow: (message) => this.#current?.handleDataRow(message),
      handleCommandComplete: (message, wire) => {
        this.#current?.handleCommandComplete(message, wire)
        this.#advance(wire)
      },
      handleEmptyQuery: (wire) => this.#advance(wire),
      handleReadyForQuery: (wire) => {
        const last = this.#sent[this.#told++]
        last?.handleReadyForQuery(wire)
        ended()
      },
      handleError: (error, wire) => {
        this.#fail(error, wire as Wire)
        ended(error)
      },
    }
    return Object.assign(query, own)
  }

  get #current(): NativeQuery | undefined {
    return this.#sent[this.#answered]
  }

  /**
   * Inside a transaction nothing that was answered can fail any more, so nobody waits for the rest of the group. But who waits for the last one
   * may be the last to use the client, which must be ready for other queries then.
   */
  #advance(wire: unknown): void {
    const query = this.#current
    this.#answered++
    if (this.#current === undefined) return
    this.#told++
    query?.handleReadyForQuery(wire)
  }

  #submit(wire: Wire): null {
    const messages = new WireMessages()
    const recorder = Object.assign(Object.create(wire), recording(messages))
    const sent: NativeQuery[] = []
    for (const query of this.#queries) {
      if (query._result !== undefined) query._result._types ??= this.#client._types
      recorder.parse = ({ name = '', text }: { readonly name?: string; readonly text: string }) => {
        if (name !== '') this.#parsing.add(query)
        messages.parse(name, text)
      }
      const refusal = query.submit(recorder)
      if (refusal === null) sent.push(query)
      else process.nextTick(() => query.handleError(refusal, wire))
    }
    this.#sent = sent
    messages.sync()
    wire.stream.write(messages.bytes())
    return null
  }

  #fail(error: unknown, wire: Wire): void {
    // The last one may have its answer: it has waited for a server that is ready, and waits no longer.
    const [failed, ...skipped] = this.#sent.slice(this.#told)
    this.#sent = []
    failed?.handleError(error, wire)
    const goesOn = sqlState(error) !== undefined && !isLostConnection(error)
    const reason = goesOn ? aborted(error) : error
    for (const query of skipped) {
      if (this.#parsing.has(query)) delete wire.submittedNamedStatements[query.name as string]
      query.handleError(reason, wire)
    }
  }
}

/** Writes into one buffer what a query object says. */
function recording(messages: WireMessages) {
  return {
    stream: {},
    bind: ({ statement = '', values = [], valueMapper }: Bound) =>
      messages.bind(statement, values.map(mapped, valueMapper)),
    describe: () => messages.describe(),
    execute: () => messages.execute(),
    sync: () => {},
  }
}

/** `pg` gives its mapper one value and nothing else. */
function mapped(this: Bound['valueMapper'], value: unknown): string | null {
  return this(value)
}

/** What the server says about a statement behind one that has failed, if it does not skip it. */
function aborted(cause: unknown): Error {
  const message = 'current transaction is aborted, commands ignored until end of transaction block'
  return Object.assign(new Error(message, { cause }), { severity: 'ERROR', code: '25P02' })
}
