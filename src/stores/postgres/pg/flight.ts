import type { Cell } from '../cells.ts'
import type { Answer } from '../connection.ts'
import type { Statement } from '../statement.ts'
import { WireMessages } from './wire-messages.ts'

/** The protocol level of a `pg` client, as cursors and streams for `pg` use it. */
export interface PgWire {
  on(event: 'parseComplete', listener: () => void): unknown
  removeListener(event: 'parseComplete', listener: () => void): unknown
  readonly parsedStatements: Record<string, string>
  readonly stream: { write(bytes: Uint8Array): unknown; destroy?(): void }
}

interface Passenger {
  readonly statement: Statement
  readonly values: readonly Cell[]
  readonly rows: (readonly Cell[])[]
  readonly resolve: ((answer: Answer) => void) | undefined
  readonly reject: ((error: unknown) => void) | undefined
}

/**
 * Several prepared statements in one round trip, for `client.query()` of `pg`. After a failure the server skips the
 * rest of the flight, so that nothing in it can take effect without what stands before it. `pg` keeps everything that
 * is queried later waiting until the flight has landed.
 */
export class Flight {
  readonly #prepare: boolean
  readonly #passengers: Passenger[] = []
  readonly #parsing: Statement[] = []
  #arrived = 0
  #wire: PgWire | undefined
  #mayLeave = false
  #hasParsed = false
  /** The server is ready for the next query, and nothing has failed. */
  landed = false
  lastTag = ''
  /** `pg` puts it here for its query_timeout. */
  callback: ((error?: unknown) => void) | undefined

  constructor(options: { prepare: boolean }) {
    this.#prepare = options.prepare
  }

  add(statement: Statement, values: readonly Cell[]): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#passengers.push({ statement, values, rows: [], resolve, reject })
    })
  }

  /** For a statement of which only the failure matters, and that shows in every one behind it. */
  addAhead(statement: Statement): void {
    this.#passengers.push({ statement, values: [], rows: [], resolve: undefined, reject: undefined })
  }

  /** For whoever watches what clients send: tracing, a log. */
  get text(): string {
    return this.#passengers.map(({ statement }) => statement.text).join('; ')
  }

  /** It leaves now, or as soon as the client lets it. */
  send(): void {
    this.#mayLeave = true
    if (this.#wire !== undefined) this.#leave(this.#wire)
  }

  submit(wire: PgWire): null {
    this.#wire = wire
    if (this.#mayLeave) this.#leave(wire)
    return null
  }

  #leave(wire: PgWire): void {
    const messages = new WireMessages()
    for (const { statement, values } of this.#passengers) {
      const name = this.#prepare ? statement.name : ''
      if (name === '' || wire.parsedStatements[name] === undefined) {
        messages.parse(name, statement.text)
        if (name !== '') this.#parsing.push(statement)
      }
      messages.bind(name, values)
      messages.execute()
    }
    messages.sync()
    this.#hasParsed = this.#parsing.length > 0
    if (this.#hasParsed) wire.on('parseComplete', this.#parsed)
    wire.stream.write(messages.bytes())
  }

  // Only what the server has confirmed is noted: after a failure nobody else knows what it has parsed.
  readonly #parsed = (): void => {
    const statement = this.#parsing.shift()
    if (statement !== undefined && this.#wire !== undefined)
      this.#wire.parsedStatements[statement.name] = statement.text
  }

  #stopParsing(): void {
    if (this.#hasParsed) this.#wire?.removeListener('parseComplete', this.#parsed)
  }

  handleDataRow(message: { readonly fields: readonly Cell[] }): void {
    this.#passengers[this.#arrived]?.rows.push(message.fields)
  }

  handleCommandComplete(message: { readonly text: string }): void {
    const passenger = this.#passengers[this.#arrived++]
    this.lastTag = message.text
    passenger?.resolve?.({ rows: passenger.rows, count: countIn(message.text) })
  }

  handleReadyForQuery(): void {
    this.landed = true
    this.#stopParsing()
    this.callback?.()
  }

  handleError(error: unknown): void {
    this.#stopParsing()
    const rest = this.#passengers.slice(this.#arrived)
    this.#arrived = this.#passengers.length
    for (const { reject } of rest) reject?.(error)
    this.callback?.(error)
  }

  // Nothing is described, copied or read in portions here; `pg` asks all the same.
  handleRowDescription(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}
}

/** `INSERT 0 3`, `SELECT 3`, `BEGIN`. */
function countIn(tag: string): number {
  return Number(tag.slice(tag.lastIndexOf(' ') + 1)) || 0
}

/** The wire of a client that can take a flight: not pg-native, and not a client that pipelines by itself. */
export function wireOf(client: object): PgWire | undefined {
  const { connection, pipeline } = client as { connection?: Partial<PgWire>; pipeline?: boolean }
  if (pipeline === true || typeof connection !== 'object' || connection === null) return undefined
  const isComplete =
    typeof connection.on === 'function' &&
    typeof connection.removeListener === 'function' &&
    typeof connection.parsedStatements === 'object' &&
    typeof connection.stream?.write === 'function'
  return isComplete ? (connection as PgWire) : undefined
}
