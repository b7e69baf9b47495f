import type { Guard } from './guard.ts'
import type { SqliteDatabase, SqliteStatement, SqliteValue } from './sqlite-database.ts'

type Method = (...values: unknown[]) => unknown

/** Gives `map`, `filter` and the like, and makes it iterable. */
const iteratorPrototype: object = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()))

interface Lending {
  readonly guard: Guard
  readonly database: SqliteDatabase
  readonly lent: SqliteDatabase
  /** Anything but a `run` that worked was done with it: it may differ from a new one. */
  onUsed(): void
}

/** A prepared statement may be kept for longer than the loan lasts, so it has the guard too. */
export function lentStatement(statement: SqliteStatement, lending: Lending): SqliteStatement {
  const { guard, database, lent, onUsed } = lending
  const run: Method = (...values) => {
    try {
      return guard.call(() => statement.run(...(values as SqliteValue[])))
    } catch (error) {
      onUsed()
      throw error
    }
  }
  const proxy: SqliteStatement = new Proxy(statement, {
    get(target, name) {
      if (name === 'run') return run
      onUsed()
      const member: unknown = Reflect.get(target, name, target)
      if (member === database) return lent
      if (typeof member !== 'function' || name === 'constructor') return member
      return (...values: unknown[]) => {
        const result = guard.call(() => Reflect.apply(member as Method, target, values))
        if (name === 'iterate') return lentIterator(result as Iterator<unknown>, guard)
        return result === target ? proxy : result
      }
    },
  })
  return proxy
}

function lentIterator(native: Iterator<unknown>, guard: Guard): Iterator<unknown> {
  guard.watch(native)
  const settle = (result: IteratorResult<unknown>): IteratorResult<unknown> => {
    if (result.done) guard.finished(native)
    return result
  }
  return Object.assign(Object.create(iteratorPrototype) as object, {
    next: () => settle(guard.call(() => native.next())),
    return: (value?: unknown) => {
      guard.finished(native)
      return native.return?.(value) ?? { done: true, value }
    },
  })
}
