import { EventEmitter } from 'node:events'
import type { Answer } from '../connection.ts'
import { type Statement, statement } from '../statement.ts'
import type { Cell } from '../values-as-text.ts'
import { tellListeners } from './tell-listeners.ts'
import { WireMessages } from './wire-messages.ts'

/** The protocol level of a `pg` client, as cursors and streams for `pg` use it. */
export interface PgWire {
  on(event: 'parseComplete', listener: () => void): unknown
  once(event: 'readyForQuery', listener: (message: { readonly status?: string }) => void): unknown
  removeListener(event: 'parseComplete', listener: () => void): unknown
  /** What the parser of the protocol calls with every message of the server. */
  emit: (event: string, ...values: unknown[]) => boolean
  readonly parsedStatements: Record<string, string>
  readonly stream: { write(bytes: Uint8Array): unknown; destroy?(): void }
}

interface SentStatement {
  readonly statement: Statement
  readonly values: readonly Cell[]
  rows: (readonly Cell[])[]
  count: number
  readonly resolve: ((answer: Answer) => void) | undefined
  readonly reject: ((error: unknown) => void) | undefined
}

export interface RoundTripOptions {
  readonly prepare: boolean
  /** The error that the callers get for what the server or the connection reported. */
  explain(error: unknown): unknown
  /** The present tick of the watch that looks for answers. */
  tick?(): number
  /** Called first if the trip fails, before its callers and later queries are notified. Returns `true` if it is sent again. */
  failed?(error: unknown, answered: number, wire: PgWire | undefined): boolean
}

const rollback = statement('ROLLBACK')

/**
 * Several statements in one round trip, for `client.query()` of `pg`, with a single Sync after all of them. The client's own
 * pipelining ends every statement with a Sync, so a claim behind a failed BEGIN would run outside any transaction. Here the
 * server skips everything after a failure. `pg` holds back later queries until all of this is answered.
 * It has events because the queries of `pg` have them: Datadog listens for the end of each, and fails where it cannot.
 */
export class RoundTrip extends EventEmitter {
  readonly #options: RoundTripOptions
  #prepare: boolean
  #statements: SentStatement[] = []
  /** The statements that the server is parsing, in order; `undefined` stands for an unnamed one. */
  #parsing: (Statement | undefined)[] = []
  #answered = 0
  #wire: PgWire | undefined
  #maySend = false
  /** OpenTelemetry copies what has no name, to add a comment to its text. */
  readonly name = ''
  /** When it was written; `undefined` before. */
  sentAt: number | undefined
  sentBytes = 0
  /** Whether nobody waits for it any more. */
  isOver = false
  /** Whether the server is ready for the next query and nothing has failed. */
  isAnswered = false
  /** The transaction status that the server reported then: `I` is outside any transaction. */
  status: string | undefined
  lastTag = ''
  /** Set by `pg` for its query_timeout. */
  callback: ((error?: unknown) => void) | undefined

  constructor(options: RoundTripOptions) {
    super()
    this.#options = options
    this.#prepare = options.prepare
  }

  add(statement: Statement, values: readonly Cell[]): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#statements.push({ statement, values, rows: [], count: 0, resolve, reject })
    })
  }

  /** Adds a statement of which only the failure matters; a failure also fails every statement behind it. */
  addAhead(statement: Statement): void {
    this.#statements.push(ahead(statement))
  }

  /** For tools that watch what clients send, such as tracing or a log. */
  get text(): string {
    return this.#statements.map(({ statement }) => statement.text).join('; ')
  }

  /** Sends the trip now, or as soon as the client allows it. */
  send(): void {
    this.#maySend = true
    if (this.#wire !== undefined) this.#write(this.#wire)
  }

  /** Prepares the trip to be submitted again, without names, after a rollback of what was begun. */
  prepareAgain({ isInside }: { readonly isInside: boolean }): void {
    for (const sent of this.#statements) sent.rows = []
    if (isInside || this.#answered > 0) this.#statements = [ahead(rollback), ...this.#statements]
    this.#answered = 0
    this.#prepare = false
    this.#wire = undefined
    const done = this.callback
    this.callback = undefined
    done?.()
  }

  submit(wire: PgWire): null {
    this.#wire = wire
    if (this.#maySend) this.#write(wire)
    return null
  }

  #write(wire: PgWire): void {
    const messages = new WireMessages()
    for (const { statement, values } of this.#statements) {
      const name = this.#prepare ? statement.name : ''
      if (name === '' || wire.parsedStatements[name] === undefined) {
        messages.parse(name, statement.text)
        this.#parsing.push(name === '' ? undefined : statement)
      }
      messages.bind(name, values)
      messages.execute()
    }
    messages.sync()
    if (this.#parsing.some((each) => each !== undefined)) wire.on('parseComplete', this.#parsed)
    wire.once('readyForQuery', ({ status }) => {
      this.status = status
    })
    this.sentAt = this.#options.tick?.()
    const bytes = messages.bytes()
    this.sentBytes = bytes.byteLength
    wire.stream.write(bytes)
  }

  // Records only what the server has confirmed: after a failure nobody else knows what it has parsed.
  readonly #parsed = (): void => {
    const statement = this.#parsing.shift()
    if (statement !== undefined && this.#wire !== undefined)
      this.#wire.parsedStatements[statement.name] = statement.text
  }

  #stopParsing(): void {
    this.#parsing = []
    this.#wire?.removeListener('parseComplete', this.#parsed)
  }

  handleDataRow(message: { readonly fields: readonly Cell[] }): void {
    this.#statements[this.#answered]?.rows.push(message.fields)
  }

  handleCommandComplete(message: { readonly text: string }): void {
    const sent = this.#statements[this.#answered++]
    this.lastTag = message.text
    if (sent !== undefined) sent.count = countIn(message.text)
  }

  // Resolves only now, because outside a transaction the server commits after answering everything, and the commit may fail.
  handleReadyForQuery(): void {
    this.isAnswered = true
    this.isOver = true
    this.#stopParsing()
    for (const { resolve, rows, count } of this.#statements) resolve?.({ rows, count })
    this.callback?.()
    tellListeners(this)
  }

  handleError(error: unknown): void {
    this.#stopParsing()
    if (this.#options.failed?.(error, this.#answered, this.#wire)) return
    this.isOver = true
    // If all statements were answered, their commit has failed, and none of them took effect.
    const answered = this.#answered < this.#statements.length ? this.#answered : 0
    for (const { resolve, rows, count } of this.#statements.slice(0, answered)) resolve?.({ rows, count })
    const reported = this.#options.explain(error)
    for (const { reject } of this.#statements.slice(answered)) reject?.(reported)
    this.#answered = this.#statements.length
    this.callback?.(error)
    tellListeners(this, error)
  }

  // Nothing is described, copied or read in portions here, but `pg` calls these anyway.
  handleRowDescription(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}
}

function ahead(statement: Statement): SentStatement {
  return { statement, values: [], rows: [], count: 0, resolve: undefined, reject: undefined }
}

/** `INSERT 0 3`, `SELECT 3`, `BEGIN`. */
function countIn(tag: string): number {
  return Number(tag.slice(tag.lastIndexOf(' ') + 1)) || 0
}

/** The wire of a client that can be used this way: not pg-native, and not a client that pipelines by itself. */
export function wireOf(client: object): PgWire | undefined {
  const { connection, pipeline } = client as { connection?: Partial<PgWire>; pipeline?: boolean }
  if (pipeline === true || typeof connection !== 'object' || connection === null) return undefined
  const isComplete =
    typeof connection.on === 'function' &&
    typeof connection.once === 'function' &&
    typeof connection.emit === 'function' &&
    typeof connection.removeListener === 'function' &&
    typeof connection.parsedStatements === 'object' &&
    typeof connection.stream?.write === 'function'
  return isComplete ? (connection as PgWire) : undefined
}

/** Whether a query is queued behind the current one and about to be sent. `true` also if that cannot be determined. */
export function hasQueued(client: object): boolean {
  const { _queryQueue } = client as { _queryQueue?: readonly unknown[] }
  const queue = _queryQueue ?? (client as { queryQueue?: readonly unknown[] }).queryQueue
  return !Array.isArray(queue) || queue.length > 0
}
