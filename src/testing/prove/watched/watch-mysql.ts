import type { Execution } from '../execution.ts'
import { failInMysql } from '../transient-error.ts'

type Method = (...values: unknown[]) => unknown

/** A connection of `mysql2/promise`. */
export function watchMysql(connection: object, execution: Execution): unknown {
  const member = (name: string): Method => Reflect.get(connection, name, connection) as Method
  const fail = (): unknown => Reflect.apply(member('query'), connection, [failInMysql])
  const watched = (text: string, values: unknown, run: () => unknown): Promise<unknown> => {
    const answer = execution.call({ text, values: values ?? [], run }, fail)
    // The caller sees the failure. If the call is not awaited, that is detected elsewhere.
    answer.catch(() => {})
    return answer
  }
  const call = (name: string): Method => {
    return (sql, values) =>
      watched(textOf(sql), values, () =>
        Reflect.apply(member(name), connection, values === undefined ? [sql] : [sql, values]),
      )
  }
  const prepare: Method = async (sql) => {
    const statement = (await Reflect.apply(member('prepare'), connection, [sql])) as object
    return new Proxy(statement, {
      get(target, name) {
        const own: unknown = Reflect.get(target, name, target)
        if (name !== 'execute') return own
        return (values: unknown) => watched(textOf(sql), values, () => Reflect.apply(own as Method, target, [values]))
      },
    })
  }
  const methods = new Map<PropertyKey, Method>([
    ['query', call('query')],
    ['execute', call('execute')],
    ['prepare', prepare],
  ])
  return new Proxy(connection, {
    get: (target, name) => methods.get(name) ?? (Reflect.get(target, name, target) as unknown),
  })
}

function textOf(sql: unknown): string {
  return typeof sql === 'string' ? sql : String((sql as { sql?: unknown } | null)?.sql ?? 'query')
}
