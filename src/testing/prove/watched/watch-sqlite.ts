import type { Execution } from '../execution.ts'

type Method = (...values: unknown[]) => unknown

const running = new Set<PropertyKey>(['run', 'get', 'all', 'iterate'])

/** `DatabaseSync` of node:sqlite or `Database` of better-sqlite3: every call has finished when it returns. */
export function watchSqlite(database: object, execution: Execution): unknown {
  const watched: object = new Proxy(database, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function' || name === 'constructor') return member
      return (...values: unknown[]) => {
        const run = (): unknown => Reflect.apply(member as Method, target, values)
        if (name === 'exec') return execution.callAtOnce({ text: String(values[0]), values: [], run })
        if (name === 'prepare') execution.prepares(String(values[0]))
        const result = run()
        if (name === 'prepare') return watchStatement(result as object, String(values[0]), execution)
        return result === target ? watched : result
      }
    },
  })
  return watched
}

function watchStatement(statement: object, text: string, execution: Execution): unknown {
  const watched: object = new Proxy(statement, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function' || name === 'constructor') return member
      return (...values: unknown[]) => {
        const run = (): unknown => Reflect.apply(member as Method, target, values)
        if (running.has(name)) return execution.callAtOnce({ text, values, run })
        const result = run()
        return result === target ? watched : result
      }
    },
  })
  return watched
}
