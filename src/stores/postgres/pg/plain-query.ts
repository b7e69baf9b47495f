import type { PgClientShape } from '../client-shapes.ts'
import type { GatheredStatements } from './gathered-statements.ts'
import { queryClassOf } from './native-query.ts'

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
export function plainQueries(client: PgClientShape, native: object, gathered?: GatheredStatements): SendPlain {
  const Query = queryClassOf(client, native)
  if (Query === undefined) return () => undefined
  return (config, values) => {
    const plain = typeof config === 'string' ? { text: config } : config
    if (!isPlain(plain)) return undefined
    const given = values ?? plain.values ?? undefined
    if (given !== undefined && !Array.isArray(given)) return undefined
    const query = new Query(plain.text, given)
    query.name = plain.name
    const answered = new Promise<unknown>((resolve, reject) => {
      query.callback = (error, result) => (error ? reject(error) : resolve(result))
    })
    if (gathered === undefined || !gathered.add(query)) client.query(query)
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
