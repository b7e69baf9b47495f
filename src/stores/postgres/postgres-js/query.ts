/** A value of a row as postgres.js gives it after `.raw()`. */
export type RawCell = Buffer | null

export interface RawResult extends ReadonlyArray<readonly RawCell[]> {
  readonly command?: string
  readonly count: number | null
}

/** A connection inside postgres.js, as `onexecute` hands it out and as `sql.begin` itself uses it. */
export interface InnerConnection {
  onclose: ((error: Error) => void) | null
  terminate(): void
}

/**
 * A query of postgres.js. It is lazy: `then`, `catch`, `finally`, `execute` and `forEach` call `handle`, which starts the
 * query the first time.
 */
export interface JsQuery extends Promise<unknown> {
  readonly strings: readonly string[]
  readonly args: readonly unknown[]
  executed: boolean
  readonly active: boolean
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
  handle(): unknown
  /** Hands the query to its connection. */
  handler(query: JsQuery): unknown
  execute(): JsQuery
  raw(): JsQuery
  canceller?: ((query: JsQuery) => Promise<void>) | null
}

export function isJsQuery(value: unknown): value is JsQuery {
  const query = value as Partial<JsQuery> | null
  return typeof query?.handle === 'function' && Array.isArray(query.strings) && Array.isArray(query.args)
}

/** About how many bytes one of our own queries sends: a text with values in it, or beside it. */
export function sizeOfQuery({ strings, args }: Pick<JsQuery, 'strings' | 'args'>): number {
  return [...strings, ...args].reduce<number>((sum, each) => sum + (typeof each === 'string' ? each.length : 0), 0)
}

/** The text that a query sends to the server, with a placeholder for every value. Fragments are other queries inside it. */
export function textOfQuery({ strings, args }: Pick<JsQuery, 'strings' | 'args'>): string {
  return strings.map((text, index) => text + (index < strings.length - 1 ? textOfValue(args[index]) : '')).join('')
}

function textOfValue(value: unknown): string {
  if (isJsQuery(value)) return textOfQuery(value)
  if (Array.isArray(value) && isJsQuery(value[0])) return value.map(textOfValue).join(' ')
  return ' $1 '
}

/** Asks the server to cancel the running query; postgres.js uses a separate connection outside the pool for that. */
export function cancelRunning(queries: Iterable<JsQuery>): void {
  for (const query of queries) if (query.active) query.canceller?.(query).catch(() => {})
}
