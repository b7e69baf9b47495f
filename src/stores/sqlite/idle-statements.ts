import type { SqliteDatabase, SqliteStatement } from './sqlite-database.ts'

/** Handlers use few different texts, but one that writes values into its texts would fill the memory. */
export const mostIdle = 100

/** The place for the idle statement of one text. */
export interface IdlePlace {
  readonly sql: string
  statement: SqliteStatement | undefined
  usedAt: number
}

/**
 * Statements that borrowers have prepared and no longer use, kept for the next one who prepares the same text, because
 * compiling a statement takes longer than running it. Each has one user at a time, and only `run` was ever called on it, so
 * it is as good as new.
 */
export class IdleStatements {
  readonly #places = new Map<string, IdlePlace>()
  #uses = 0

  /** The place of a text. A caller that takes its statement leaves it empty. */
  placeOf(sql: string): IdlePlace {
    let place = this.#places.get(sql)
    if (place === undefined) {
      place = { sql, statement: undefined, usedAt: 0 }
      this.#add(place)
    }
    place.usedAt = ++this.#uses
    return place
  }

  #add(place: IdlePlace): void {
    this.#places.set(place.sql, place)
    if (this.#places.size <= mostIdle) return
    let oldest = place
    for (const other of this.#places.values()) if (other !== place && other.usedAt < oldest.usedAt) oldest = other
    this.#places.delete(oldest.sql)
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
