import type { SqliteDatabase, SqliteStatement } from './sqlite-database.ts'

/** Handlers have few different texts; one that puts values into them instead would fill the memory. */
export const mostIdle = 100

/** Where the statements of one text are put down. */
export interface IdlePlace {
  readonly sql: string
  statement: SqliteStatement | undefined
  usedAt: number
}

/**
 * What borrowers have prepared and are done with, for the next one who prepares the same: to compile a statement takes
 * longer than to run it. Each has one user at a time, and nobody but `run` was ever called on it, so that it is as good as new.
 */
export class IdleStatements {
  readonly #places = new Map<string, IdlePlace>()
  #uses = 0

  /** The place of a text; whoever takes its statement leaves it empty. */
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
