import type { Guard } from './guard.ts'
import { idleStatementsOf, mostIdle } from './idle-statements.ts'
import { lentStatement } from './lent-statement.ts'
import type { SqliteDatabase, SqliteStatement } from './sqlite-database.ts'

type Method = (...values: unknown[]) => unknown

const ending = new Set<PropertyKey>(['close', 'open', 'deserialize', Symbol.dispose])

/** These would outlive the loan, or hand out the connection without its guard. */
const declined = new Set<PropertyKey>(['createTagStore', 'setAuthorizer', 'unsafeMode'])

/** With better-sqlite3 this changes what statements are like that are prepared after it. */
const changesNewStatements = 'defaultSafeIntegers'

const guards = new WeakMap<object, Guard>()

/** The native connection as a borrower sees it: the same members, each behind the guard. */
export function lentDatabase<Database extends SqliteDatabase>(database: Database, guard: Guard): Database {
  const methods = new Map<PropertyKey, Method>()
  const idle = idleStatementsOf(database)
  let kept = 0
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
    if (name === 'prepare') return (...values) => prepare(member, values)
    const lend = name === 'transaction' ? lendFunction : lendResult
    return (...values) => {
      if (name === 'exec') {
        guard.check()
        guard.refuseControl(values[0])
      }
      if (name === changesNewStatements) idle.close()
      return lend(guard.call(() => Reflect.apply(member, database, values)))
    }
  }

  /** better-sqlite3 returns the connection from most calls, for chaining. */
  function lendResult(result: unknown): unknown {
    return result === database ? lent : result
  }

  function prepare(member: Method, values: readonly unknown[]): unknown {
    guard.check()
    const [sql] = values
    // Options make it another statement. One who prepares without end must not have them all kept until the end.
    const isPlain = typeof sql === 'string' && values.length === 1 && kept++ < mostIdle
    const known = isPlain ? idle.take(sql) : undefined
    if (known === undefined) guard.refuseControl(sql)
    const statement = known ?? (guard.call(() => Reflect.apply(member, database, values)) as SqliteStatement)
    let isAsNew = isPlain
    const onUsed = (): void => {
      isAsNew = false
    }
    if (isPlain) guard.onEnd(() => isAsNew && idle.give(sql, statement))
    return lentStatement(statement, { guard, database, lent, onUsed })
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
