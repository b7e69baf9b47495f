import type { SqliteDatabase } from './sqlite-database.ts'
import { statementsOf } from './statements.ts'

const mayMakeOne = /\bcreate\b.*\btemp(?:orary)?\b/is
const selectAll = `SELECT type, name FROM temp.sqlite_schema WHERE sql IS NOT NULL`

interface TempObject {
  readonly type: 'table' | 'view' | 'trigger' | 'index'
  readonly name: string
}

/** Guessing yes costs a look at a short list, so that it need not understand the statement. */
export function mayMakeTempObject(sql: unknown): boolean {
  return typeof sql === 'string' && mayMakeOne.test(sql)
}

/** What is in the temporary schema, by name: it belongs to the connection and comes before the tables of the file. */
export function tempObjects(database: SqliteDatabase): Map<string, TempObject> {
  const rows = statementsOf(database).all<TempObject>(selectAll)
  return new Map(rows.map((row) => [`${row.type} ${row.name}`, row]))
}

/** Triggers go first, and indexes with their table. Throws when something cannot be removed. */
export function dropTempObjectsSince(database: SqliteDatabase, before: ReadonlyMap<string, unknown>): void {
  const made = [...tempObjects(database)].filter(([id]) => !before.has(id)).map(([, object]) => object)
  const statements = statementsOf(database)
  for (const kind of ['trigger', 'view', 'index', 'table'])
    for (const { type, name } of made)
      if (type === kind) statements.exec(`DROP ${type} IF EXISTS temp."${name.replaceAll('"', '""')}"`)
}
