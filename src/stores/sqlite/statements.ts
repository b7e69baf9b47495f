import type { SqliteDatabase, SqliteStatement, SqliteValue } from './sqlite-database.ts'
import { explained } from './sqlite-errors.ts'

/** Milliseconds since 1970 by the database's clock. */
export const now = `cast(round(unixepoch('subsec') * 1000) as integer)`

/** The store's own statements on one connection, each prepared once. */
export class Statements {
  readonly #database: SqliteDatabase
  readonly #prepared = new Map<string, SqliteStatement>()

  constructor(database: SqliteDatabase) {
    this.#database = database
  }

  /** Returns how many rows it changed. */
  run(sql: string, ...values: SqliteValue[]): number {
    try {
      return Number(this.#prepare(sql).run(...values).changes)
    } catch (error) {
      throw explained(error)
    }
  }

  get<Row>(sql: string, ...values: SqliteValue[]): Row | undefined {
    try {
      return this.#prepare(sql).get(...values) as Row | undefined
    } catch (error) {
      throw explained(error)
    }
  }

  all<Row>(sql: string, ...values: SqliteValue[]): Row[] {
    try {
      return this.#prepare(sql).all(...values) as Row[]
    } catch (error) {
      throw explained(error)
    }
  }

  exec(sql: string): void {
    try {
      this.#database.exec(sql)
    } catch (error) {
      throw explained(error)
    }
  }

  #prepare(sql: string): SqliteStatement {
    let statement = this.#prepared.get(sql)
    if (statement === undefined) {
      statement = plain(this.#database.prepare(sql))
      this.#prepared.set(sql, statement)
    }
    return statement
  }
}

/** A connection given by the user may have other defaults: rows as arrays, integers as bigint. */
function plain(statement: SqliteStatement): SqliteStatement {
  const settings = statement as {
    setReturnArrays?(on: boolean): void
    setReadBigInts?(on: boolean): void
    safeIntegers?(on: boolean): void
  }
  settings.setReturnArrays?.(false)
  settings.setReadBigInts?.(false)
  settings.safeIntegers?.(false)
  return statement
}

const known = new WeakMap<SqliteDatabase, Statements>()

export function statementsOf(database: SqliteDatabase): Statements {
  let statements = known.get(database)
  if (statements === undefined) {
    statements = new Statements(database)
    known.set(database, statements)
  }
  return statements
}

/** better-sqlite3 returns a Buffer, which looks different wherever it is compared or printed. */
export function bytes(value: Uint8Array): Uint8Array {
  if (value.constructor === Uint8Array) return value
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
}
