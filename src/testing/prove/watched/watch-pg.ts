import type { Execution } from '../execution.ts'
import { failInPostgres } from '../transient-error.ts'

type Method = (...values: unknown[]) => unknown
type Callback = (error: unknown, result?: unknown) => void

/** A client of `pg`, or anything with a `query` that returns a promise or takes a callback. */
export function watchPg(client: object, execution: Execution): unknown {
  return new Proxy(client, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      return name === 'query' ? watchedQuery(target, member as Method, execution) : member
    },
  })
}

function watchedQuery(client: object, query: Method, execution: Execution): Method {
  const send = (...values: unknown[]): unknown => Reflect.apply(query, client, values)
  return (config, values, callback) => {
    const text = textOf(config)
    // A cursor or a stream uses the protocol itself.
    if (typeof (config as { submit?: unknown } | null)?.submit === 'function')
      return execution.callAtOnce({ text, values: [], run: () => send(config, values, callback) })
    const given = [callback, values].find((each) => typeof each === 'function') as Callback | undefined
    const bound = Array.isArray(values) ? values : (config as { values?: unknown } | null)?.values
    const answer = execution.call(
      { text, values: bound ?? [], run: () => send(config, Array.isArray(values) ? values : undefined) },
      () => send(failInPostgres),
    )
    // The caller sees the failure. If the call is not awaited, that is detected elsewhere.
    answer.catch(() => {})
    if (given === undefined) return answer
    answer.then(
      (result) => given(null, result),
      (error: unknown) => given(error),
    )
    return undefined
  }
}

function textOf(config: unknown): string {
  if (typeof config === 'string') return config
  const { text, name } = (config ?? {}) as { text?: unknown; name?: unknown }
  return String(text ?? name ?? 'query')
}
