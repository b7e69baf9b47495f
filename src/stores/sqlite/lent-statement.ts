import type { Guard } from './guard.ts'
import type { IdlePlace } from './idle-statements.ts'
import type { SqliteDatabase, SqliteStatement, SqliteValue } from './sqlite-database.ts'

type Method = (...values: unknown[]) => unknown

/** The members that run the statement. */
const running = new Set<PropertyKey>(['get', 'all', 'iterate'])

/** Provides `map`, `filter` and the like, and makes the object iterable. */
const iteratorPrototype: object = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()))

export interface Lending {
  readonly guard: Guard
  readonly database: SqliteDatabase
  readonly lent: SqliteDatabase
}

/** A prepared statement may be kept longer than the loan lasts, so it is guarded too. */
export class LentStatement implements ProxyHandler<SqliteStatement> {
  readonly #statement: SqliteStatement
  readonly #lending: Lending
  readonly #place: IdlePlace | undefined
  readonly #savepointText: string | undefined
  /** Whether only successful calls of `run` were made on it, so that it does not differ from a new statement. */
  #isAsNew = true
  readonly proxy: SqliteStatement

  /** `place` is where the statement goes when it is given back, if it may be reused. */
  constructor(
    statement: SqliteStatement,
    place: IdlePlace | undefined,
    lending: Lending,
    /** The text, if it may use savepoints. */
    savepointText?: string | undefined,
  ) {
    this.#savepointText = savepointText
    this.#statement = statement
    this.#place = place
    this.#lending = lending
    // Not a proxy of the statement itself, because that could not replace `database`, which is frozen.
    this.proxy = new Proxy(Object.create(statement) as SqliteStatement, this)
  }

  /** Called when the loan ends. */
  giveBack(): void {
    if (this.#isAsNew && this.#place !== undefined) this.#place.statement = this.#statement
  }

  get(_: SqliteStatement, name: PropertyKey): unknown {
    if (name === 'run') return (...values: SqliteValue[]) => this.#run(values)
    this.#isAsNew = false
    const statement = this.#statement
    const { guard, database, lent } = this.#lending
    const member: unknown = Reflect.get(statement, name, statement)
    if (member === database) return lent
    if (typeof member !== 'function' || name === 'constructor') return member
    return (...values: unknown[]) => {
      if (running.has(name)) this.#checkSavepoints()
      const result = guard.call(() => Reflect.apply(member as Method, statement, values))
      if (name === 'iterate') return lentIterator(result as Iterator<unknown>, guard)
      return result === statement ? this.proxy : result
    }
  }

  set(_: SqliteStatement, name: PropertyKey, value: unknown): boolean {
    this.#isAsNew = false
    return Reflect.set(this.#statement, name, value)
  }

  #checkSavepoints(): void {
    if (this.#savepointText !== undefined) this.#lending.guard.checkSavepoints(this.#savepointText)
  }

  /** This is what most handlers call most of the time, so it creates no closure. */
  #run(values: SqliteValue[]): unknown {
    const { guard } = this.#lending
    guard.check()
    this.#checkSavepoints()
    try {
      return this.#statement.run(...values)
    } catch (error) {
      this.#isAsNew = false
      guard.failed(error)
      throw error
    }
  }
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
