import type { Guard } from './guard.ts'
import { lentStatement } from './lent-statement.ts'
import type { SqliteDatabase, SqliteStatement } from './sqlite-database.ts'

type Method = (...values: unknown[]) => unknown

const ending = new Set<PropertyKey>(['close', 'open', 'deserialize', Symbol.dispose])

/** These would outlive the loan, or hand out the connection without its guard. */
const declined = new Set<PropertyKey>(['createTagStore', 'setAuthorizer', 'unsafeMode'])

const guards = new WeakMap<object, Guard>()

/** The native connection as a borrower sees it: the same members, each behind the guard. */
export function lentDatabase<Database extends SqliteDatabase>(database: Database, guard: Guard): Database {
  const methods = new Map<PropertyKey, Method>()
  const lent: Database = new Proxy(database, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function' || name === 'constructor') return member
      let method = methods.get(name)
      if (method === undefined) {
        method = lentMethod(name, member as Method)
        methods.set(name, method)
      }
      return method
    },
  })
  guards.set(lent, guard)
  return lent

  function lentMethod(name: PropertyKey, member: Method): Method {
    if (ending.has(name)) return () => guard.refuse(`${String(name)}()`)
    if (declined.has(name)) return () => guard.decline(`${String(name)}()`)
    const lend = name === 'prepare' ? lendStatement : name === 'transaction' ? lendFunction : lendResult
    return (...values) => {
      if (name === 'prepare' || name === 'exec') {
        guard.check()
        guard.refuseControl(values[0])
      }
      return lend(guard.call(() => Reflect.apply(member, database, values)))
    }
  }

  /** better-sqlite3 returns the connection from most calls, for chaining. */
  function lendResult(result: unknown): unknown {
    return result === database ? lent : result
  }

  function lendStatement(statement: unknown): unknown {
    return lentStatement(statement as SqliteStatement, { guard, database, lent })
  }

  /** The `transaction(fn)` of better-sqlite3 makes functions which use savepoints when a transaction is open. */
  function lendFunction(inSavepoint: unknown): unknown {
    return new Proxy(inSavepoint as Method, {
      apply: (target, _, values) => guard.call(() => Reflect.apply(target, lent, values)),
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target)
        if (member === database) return lent
        return typeof member === 'function' ? lendFunction(member) : member
      },
    })
  }
}

/** The guard of a connection that was lent; undefined for a native one. */
export function guardOf(tx: object): Guard | undefined {
  return guards.get(tx)
}
