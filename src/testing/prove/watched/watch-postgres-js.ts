import { isJsQuery, type JsQuery, textOfQuery } from '../../../stores/postgres/postgres-js/query.ts'
import type { Execution } from '../execution.ts'
import { failInPostgres } from '../transient-error.ts'

type Method = (...values: unknown[]) => unknown
type Sql = Method & { unsafe(text: string): unknown }

const starting = new Set<PropertyKey>(['then', 'catch', 'finally'])

/** The `sql` of postgres.js. Its queries are sent only when they are awaited. */
export function watchPostgresJs(sql: object, execution: Execution): unknown {
  const native = new WeakMap<object, { readonly query: JsQuery; used(): void }>()
  const fail = (): unknown => (sql as Sql).unsafe(failInPostgres)

  const unwatched = (value: unknown): unknown => {
    if (Array.isArray(value) && value.some((each) => native.has(each as object))) return value.map(unwatched)
    const known = typeof value === 'object' && value !== null ? native.get(value) : undefined
    known?.used()
    return known?.query ?? value
  }

  const watchedQuery = (query: JsQuery): unknown => {
    const text = textOfQuery(query).replace(/\s+/g, ' ').trim()
    const written = execution.wrote(text)
    let answer: Promise<unknown> | undefined
    const start = (): Promise<unknown> => {
      written.used()
      answer ??= execution.call(
        { text, values: query.args.filter((value) => !isJsQuery(value)), run: () => query },
        fail,
      )
      answer.catch(() => {})
      return answer
    }
    const executed = (): object => {
      void start()
      return watched
    }
    const watched: object = new Proxy(query, {
      get(target, name) {
        if (starting.has(name))
          return (...callbacks: unknown[]) => Reflect.apply(start()[name as 'then'], answer, callbacks)
        if (name === 'execute') return executed
        const member: unknown = Reflect.get(target, name, target)
        if (typeof member !== 'function') return member
        return (...values: unknown[]) => {
          if (name === 'forEach' || name === 'cursor') written.used()
          const result: unknown = Reflect.apply(member as Method, target, values)
          return result === target ? watched : result
        }
      },
    })
    native.set(watched, { query, used: written.used })
    return watched
  }

  const lend = (result: unknown): unknown => (isJsQuery(result) ? watchedQuery(result) : result)

  return new Proxy(sql, {
    apply: (target, self, values: unknown[]) => lend(Reflect.apply(target as Method, self, values.map(unwatched))),
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      return (...values: unknown[]) => lend(Reflect.apply(member as Method, target, values.map(unwatched)))
    },
  })
}
