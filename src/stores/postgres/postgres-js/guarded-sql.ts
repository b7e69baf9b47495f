import type { Method } from '../../sql/lent-client.ts'
import { rejected } from '../../sql/rejected.ts'
import type { PostgresJsShape } from '../client-shapes.ts'
import { isJsQuery, type JsQuery, textOfQuery } from './query.ts'

export interface SqlGuard {
  /** Returns why a query with this text may not be started now, or `undefined` if it may. */
  refusal(text: string): Error | undefined
  /** Called when something would end or leave the transaction. */
  controlled(what: string): Error
  started(query: JsQuery): void
  /** What a query must wait for before it is sent; `undefined` if nothing. */
  ready(): Promise<unknown> | undefined
}

/** Methods that would end or leave the transaction, and methods that exist only in the types. */
const controls = ['release', 'begin', 'savepoint', 'prepare', 'end', 'close', 'reserve', 'listen', 'subscribe']
const wrapped = new Set<PropertyKey>(['unsafe', 'file', 'notify', ...controls])

/** A `sql` of postgres.js that works like the native one, but the guard checks every query. */
export function guardedSql<Sql extends PostgresJsShape>(sql: Sql, guard: SqlGuard): Sql {
  const methods = new Map<PropertyKey, Method>()
  const native = sql as unknown as Method & Record<PropertyKey, unknown>
  return new Proxy(native, {
    apply: (target, thisValue, values) => guarded(Reflect.apply(target, thisValue, values), guard),
    get(target, name) {
      if (!wrapped.has(name)) return target[name]
      let method = methods.get(name)
      if (method === undefined) {
        method = methodFor(target, name)
        methods.set(name, method)
      }
      return method
    },
  }) as unknown as Sql

  function methodFor(target: Record<PropertyKey, unknown>, name: PropertyKey): Method {
    if (controls.includes(String(name))) return refused(String(name), guard)
    // The native method uses another connection, and would notify others of changes that may never be committed.
    if (name === 'notify')
      return (...notice) => guarded(sql.unsafe('SELECT pg_notify($1::text, $2::text)', notice), guard)
    return (...values) => guarded(Reflect.apply(target[name] as Method, target, values), guard)
  }
}

function refused(name: string, guard: SqlGuard): Method {
  return () => {
    const error = guard.controlled(`${name}()`)
    // The native method is synchronous, so nobody would look at a promise.
    if (name === 'release') throw error
    return rejected(error)
  }
}

function held(query: JsQuery, before: Promise<unknown> | undefined, start: () => unknown): unknown {
  if (before === undefined) return start()
  // If a second `then` starts the query again in the meantime, nothing more happens.
  query.handle = () => undefined
  return before.then(start, (error) => query.reject(error))
}

/** A query is created here but may be started much later, or never, as a fragment of another query. */
function guarded(value: unknown, guard: SqlGuard): unknown {
  if (!isJsQuery(value)) return value
  const start = value.handle
  value.handle = () => {
    if (value.executed) return
    // A call that nobody awaits must not cause an unhandled rejection. `catch` cannot be used, because it would start the query.
    Promise.prototype.then.call(value, undefined, () => {})
    const refusal = guard.refusal(textOfQuery(value))
    if (refusal === undefined) {
      guard.started(value)
      return held(value, guard.ready(), () => start.call(value))
    }
    value.executed = true
    value.reject(refusal)
  }
  return value
}
