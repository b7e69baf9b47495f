import { mayUseSavepoint } from '../sql/savepoints.ts'
import type { Guard } from './guard.ts'
import { idleStatementsOf, mostIdle } from './idle-statements.ts'
import { type Lending, LentStatement } from './lent-statement.ts'
import type { SqliteDatabase, SqliteStatement } from './sqlite-database.ts'
import { mayMakeTempObject } from './temp-objects.ts'

type Method = (...values: unknown[]) => unknown

const ending = new Set<PropertyKey>(['close', 'open', 'deserialize', Symbol.dispose])

/** Members whose effect would outlive the loan, or that expose the connection without its guard. */
const declined = new Set<PropertyKey>([
  ...['createTagStore', 'setAuthorizer', 'unsafeMode', 'enableDefensive', 'defaultSafeIntegers'],
  ...['function', 'aggregate', 'table', 'loadExtension', 'enableLoadExtension'],
])

/** Methods other than prepare() that take SQL, and the prefix of that SQL. */
const takesSql = new Map<PropertyKey, string>([
  ['exec', ''],
  ['explain', ''],
  ['pragma', 'PRAGMA '],
])

/** A private name under which a lent connection exposes its guard. */
const guardName = Symbol('guard')

/** The native connection as a borrower sees it: the same members, each checked by the guard. */
export function lentDatabase<Database extends SqliteDatabase>(database: Database, guard: Guard): Database {
  return new LentDatabase(database, guard).lent
}

/** The guard of a lent connection; `undefined` for a native one. */
export function guardOf(tx: object): Guard | undefined {
  return (tx as { readonly [guardName]?: Guard })[guardName]
}

/** Created for every call of a handler, so anything that is rarely needed is created on demand. */
class LentDatabase<Database extends SqliteDatabase> implements ProxyHandler<Database>, Lending {
  readonly database: Database
  readonly guard: Guard
  readonly lent: Database
  #methods: Map<PropertyKey, Method> | undefined
  #statements: LentStatement[] | undefined

  constructor(database: Database, guard: Guard) {
    this.database = database
    this.guard = guard
    this.lent = new Proxy(database, this)
  }

  get(target: Database, name: PropertyKey): unknown {
    if (name === guardName) return this.guard
    if (name === 'prepare') return (...values: unknown[]) => this.#prepare(values)
    const member: unknown = Reflect.get(target, name, target)
    if (typeof member !== 'function' || name === 'constructor') return member
    this.#methods ??= new Map()
    let method = this.#methods.get(name)
    if (method === undefined) {
      method = this.#lentMethod(name, member as Method)
      this.#methods.set(name, method)
    }
    return method
  }

  #lentMethod(name: PropertyKey, member: Method): Method {
    const { guard, database } = this
    if (ending.has(name)) return () => guard.refuse(`${String(name)}()`)
    if (declined.has(name)) return () => guard.decline(`${String(name)}()`)
    return (...values) => {
      const head = takesSql.get(name)
      if (head !== undefined) {
        guard.check()
        guard.checkShared(values[0])
        guard.checkText(`${head}${values[0]}`)
        if (name === 'exec' && mayUseSavepoint(values[0])) guard.checkSavepoints(String(values[0]))
      }
      const result: unknown = guard.call(() => Reflect.apply(member, database, values))
      if (name === 'transaction') return this.#lendFunction(result as Method)
      // better-sqlite3 returns the connection from most calls, for chaining.
      return result === database ? this.lent : result
    }
  }

  #prepare(values: unknown[]): unknown {
    const { guard, database } = this
    guard.check()
    const sql = values[0]
    guard.checkShared(sql)
    const statements = this.#lentStatements()
    // Options make it a different statement. If a handler prepares without end, not all of its statements may be kept. A
    // statement that makes temporary tables is checked again each time it is prepared.
    const isPlain =
      typeof sql === 'string' &&
      values.length === 1 &&
      statements.length < mostIdle &&
      !mayMakeTempObject(sql) &&
      !mayUseSavepoint(sql)
    const place = isPlain ? idleStatementsOf(database).placeOf(sql) : undefined
    let native = place?.statement
    if (place !== undefined) place.statement = undefined
    if (native === undefined) {
      guard.checkText(sql)
      native = guard.call(() => Reflect.apply(database.prepare, database, values)) as SqliteStatement
    }
    const statement = new LentStatement(native, place, this, mayUseSavepoint(sql) ? String(sql) : undefined)
    if (isPlain) statements.push(statement)
    return statement.proxy
  }

  #lentStatements(): LentStatement[] {
    if (this.#statements === undefined) {
      const statements: LentStatement[] = []
      this.#statements = statements
      this.guard.onEnd(() => {
        for (const statement of statements) statement.giveBack()
      })
    }
    return this.#statements
  }

  /**
   * The `transaction(fn)` of better-sqlite3 returns functions that use savepoints if a transaction is open. Their members
   * are frozen, so a proxy of the function itself could not replace them.
   */
  #lendFunction(native: Method): unknown {
    return new Proxy(() => {}, {
      apply: (_, __, values) => this.guard.call(() => Reflect.apply(native, this.lent, values)),
      get: (target, name) => {
        if (!Object.hasOwn(native, name)) return Reflect.get(target, name)
        const member: unknown = Reflect.get(native, name)
        if (member === this.database) return this.lent
        return typeof member === 'function' ? this.#lendFunction(member as Method) : member
      },
    })
  }
}
