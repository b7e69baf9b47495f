import type { SqliteDatabase, SqliteStatement } from './sqlite-database.ts'

/** Handlers have few different texts; one that puts values into them instead would fill the memory. */
export const mostIdle = 100

/**
 * What borrowers have prepared and are done with, for the next one who prepares the same: to compile a statement takes
 * longer than to run it. Each has one user at a time, and nobody but `run` was ever called on it, so that it is as good as new.
 */
export class IdleStatements {
  readonly #byText = new Map<string, SqliteStatement>()
  #closed = false

  take(sql: string): SqliteStatement | undefined {
    const statement = this.#byText.get(sql)
    this.#byText.delete(sql)
    return statement
  }

  give(sql: string, statement: SqliteStatement): void {
    if (this.#closed) return
    // Behind the others, of which the one that was not used for longest goes first.
    this.#byText.delete(sql)
    this.#byText.set(sql, statement)
    const [oldest] = this.#byText.keys()
    if (this.#byText.size > mostIdle && oldest !== undefined) this.#byText.delete(oldest)
  }

  /** From now on every statement is prepared anew: what a new one is like has changed. */
  close(): void {
    this.#closed = true
    this.#byText.clear()
  }
}

const known = new WeakMap<SqliteDatabase, IdleStatements>()

export function idleStatementsOf(database: SqliteDatabase): IdleStatements {
  let idle = known.get(database)
  if (idle === undefined) {
    idle = new IdleStatements()
    known.set(database, idle)
  }
  return idle
}
