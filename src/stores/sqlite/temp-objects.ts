import type { SqliteDatabase } from './sqlite-database.ts'
import { statementsOf } from './statements.ts'

const mayMakeOne = /\bcreate\b.*\btemp(?:orary)?\b/is
const selectAll = `SELECT type, name FROM temp.sqlite_schema WHERE sql IS NOT NULL`

interface TempObject {
  readonly type: 'table' | 'view' | 'trigger' | 'index'
  readonly name: string
}

/** A false positive only costs a look at a short list, so the statement need not be parsed. */
export function mayMakeTempObject(sql: unknown): boolean {
  return typeof sql === 'string' && mayMakeOne.test(sql)
}

/** The objects in the temporary schema, by name. They belong to the connection and hide the tables of the file. */
export function tempObjects(database: SqliteDatabase): Map<string, TempObject> {
  const rows = statementsOf(database).all<TempObject>(selectAll)
  return new Map(rows.map((row) => [`${row.type} ${row.name}`, row]))
}

/** Drops triggers first, and indexes before their tables. Throws if something cannot be removed. */
export function dropTempObjectsSince(database: SqliteDatabase, before: ReadonlyMap<string, unknown>): void {
  const made = [...tempObjects(database)].filter(([id]) => !before.has(id)).map(([, object]) => object)
  const statements = statementsOf(database)
  for (const kind of ['trigger', 'view', 'index', 'table'])
    for (const { type, name } of made)
      if (type === kind) statements.exec(`DROP ${type} IF EXISTS temp."${name.replaceAll('"', '""')}"`)
}
