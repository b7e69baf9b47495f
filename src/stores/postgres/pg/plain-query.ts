import type { PgClientShape } from '../client-shapes.ts'

interface QueryObject {
  name: string | undefined
  callback: (error: unknown, result?: unknown) => void
}

type QueryClass = new (text: string, values: unknown) => QueryObject

/** A configuration that has nothing but these. */
interface PlainConfig {
  readonly text: string
  readonly name?: string
  readonly values?: unknown
}

const plainNames: ReadonlySet<string> = new Set(['text', 'name', 'values'])

/** Sends a query that is given as a plain configuration; `undefined` for any other. */
export type SendPlain = (config: unknown, values: unknown) => Promise<unknown> | undefined

/**
 * `pg` copies every configuration by its property descriptors, which makes slow objects of them and takes longer than all else that it does for
 * a statement. A query object that is made of a text is not copied. The name is all that it lacks then, unless there is more in the configuration.
 */
export function plainQueries(client: PgClientShape, native: object): SendPlain {
  const { Query } = native.constructor as { readonly Query?: QueryClass }
  const { _Promise: promise, connection } = native as { readonly _Promise?: unknown; readonly connection?: unknown }
  // A client behind another loan would take it for a cursor, one with promises of its own is to return those, and pg-native has no such queries.
  const isUsual = client === native && promise === Promise && typeof connection === 'object'
  if (!isUsual || typeof Query !== 'function') return () => undefined
  return (config, values) => {
    if (!isPlain(config) || (values !== undefined && !Array.isArray(values))) return undefined
    const query = new Query(config.text, values ?? config.values)
    query.name = config.name
    const answered = new Promise<unknown>((resolve, reject) => {
      query.callback = (error, result) => (error ? reject(error) : resolve(result))
    })
    client.query(query)
    return answered.catch((error: unknown) => {
      // As `pg` does it, so that the stack leads to who has sent the query and not to the socket.
      if (error instanceof Error) Error.captureStackTrace(error)
      throw error
    })
  }
}

function isPlain(config: unknown): config is PlainConfig {
  if (typeof config !== 'object' || config === null || Object.getPrototypeOf(config) !== Object.prototype) return false
  for (const name of Reflect.ownKeys(config)) if (!plainNames.has(name as string)) return false
  const { text, name } = config as { readonly text?: unknown; readonly name?: unknown }
  return typeof text === 'string' && (name === undefined || typeof name === 'string')
}
