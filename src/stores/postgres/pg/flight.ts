import type { Cell } from '../cells.ts'
import type { Answer } from '../connection.ts'
import { type Statement, statement } from '../statement.ts'
import { WireMessages } from './wire-messages.ts'

/** The protocol level of a `pg` client, as cursors and streams for `pg` use it. */
export interface PgWire {
  on(event: 'parseComplete', listener: () => void): unknown
  once(event: 'readyForQuery', listener: (message: { readonly status?: string }) => void): unknown
  removeListener(event: 'parseComplete', listener: () => void): unknown
  readonly parsedStatements: Record<string, string>
  readonly stream: { write(bytes: Uint8Array): unknown; destroy?(): void }
}

interface Passenger {
  readonly statement: Statement
  readonly values: readonly Cell[]
  rows: (readonly Cell[])[]
  count: number
  readonly resolve: ((answer: Answer) => void) | undefined
  readonly reject: ((error: unknown) => void) | undefined
}

export interface FlightOptions {
  readonly prepare: boolean
  /** Asked first when it fails, before anybody aboard or behind it gets to know. True: it flies again. */
  failed?(error: unknown, arrived: number, wire: PgWire | undefined): boolean
}

const rollback = statement('ROLLBACK')

/**
 * Several statements in one round trip, for `client.query()` of `pg`. After a failure the server skips the rest of the
 * flight, so that nothing in it can take effect without what stands before it. `pg` keeps everything that is queried
 * later waiting until the flight has landed.
 */
export class Flight {
  readonly #options: FlightOptions
  #prepare: boolean
  #passengers: Passenger[] = []
  /** What the server is parsing, in order; undefined: something without a name. */
  #parsing: (Statement | undefined)[] = []
  #arrived = 0
  #wire: PgWire | undefined
  #mayLeave = false
  /** The server is ready for the next query, and nothing has failed. */
  landed = false
  /** What the server said then: `I` is outside of any transaction. */
  status: string | undefined
  lastTag = ''
  /** `pg` puts it here for its query_timeout. */
  callback: ((error?: unknown) => void) | undefined

  constructor(options: FlightOptions) {
    this.#options = options
    this.#prepare = options.prepare
  }

  add(statement: Statement, values: readonly Cell[]): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#passengers.push({ statement, values, rows: [], count: 0, resolve, reject })
    })
  }

  /** For a statement of which only the failure matters, and that shows in every one behind it. */
  addAhead(statement: Statement): void {
    this.#passengers.push(ahead(statement))
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

  /** To be given to the client once more, after what was begun is rolled back, and without names. */
  refuel({ isInside }: { readonly isInside: boolean }): void {
    for (const passenger of this.#passengers) passenger.rows = []
    if (isInside || this.#arrived > 0) this.#passengers = [ahead(rollback), ...this.#passengers]
    this.#arrived = 0
    this.#prepare = false
    this.#wire = undefined
    const done = this.callback
    this.callback = undefined
    done?.()
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
    wire.stream.write(messages.bytes())
  }

  // Only what the server has confirmed is noted: after a failure nobody else knows what it has parsed.
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
    this.#passengers[this.#arrived]?.rows.push(message.fields)
  }

  handleCommandComplete(message: { readonly text: string }): void {
    const passenger = this.#passengers[this.#arrived++]
    this.lastTag = message.text
    if (passenger !== undefined) passenger.count = countIn(message.text)
  }

  // Not before: outside of a transaction the server commits after it has answered everything, and that may fail.
  handleReadyForQuery(): void {
    this.landed = true
    this.#stopParsing()
    for (const { resolve, rows, count } of this.#passengers) resolve?.({ rows, count })
    this.callback?.()
  }

  handleError(error: unknown): void {
    this.#stopParsing()
    if (this.#options.failed?.(error, this.#arrived, this.#wire)) return
    // When all have arrived it is their commit that has failed, and none of them took effect.
    const arrived = this.#arrived < this.#passengers.length ? this.#arrived : 0
    for (const { resolve, rows, count } of this.#passengers.slice(0, arrived)) resolve?.({ rows, count })
    for (const { reject } of this.#passengers.slice(arrived)) reject?.(error)
    this.#arrived = this.#passengers.length
    this.callback?.(error)
  }

  // Nothing is described, copied or read in portions here; `pg` asks all the same.
  handleRowDescription(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}
}

function ahead(statement: Statement): Passenger {
  return { statement, values: [], rows: [], count: 0, resolve: undefined, reject: undefined }
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
    typeof connection.once === 'function' &&
    typeof connection.removeListener === 'function' &&
    typeof connection.parsedStatements === 'object' &&
    typeof connection.stream?.write === 'function'
  return isComplete ? (connection as PgWire) : undefined
}

/** Something was queried behind what is under way, and is about to be sent. True also where that cannot be seen. */
export function hasQueued(client: object): boolean {
  const { _queryQueue } = client as { _queryQueue?: readonly unknown[] }
  const queue = _queryQueue ?? (client as { queryQueue?: readonly unknown[] }).queryQueue
  return !Array.isArray(queue) || queue.length > 0
}
