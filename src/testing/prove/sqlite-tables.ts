import type { SqliteDatabase } from '../../stores/sqlite/index.ts'
import { asRow, type Row, type TableFact, type TableFacts, type Tables } from './tables.ts'

export function readSqliteTables(database: SqliteDatabase): Tables {
  const tables = new Map<string, readonly Row[]>()
  for (const name of tableNames(database)) {
    const columns = columnsOf(database, name).map((column) => exactly(quoted(column.name)))
    tables.set(
      name,
      database
        .prepare(`SELECT ${columns.join(', ')} FROM ${quoted(name)}`)
        .all()
        .map(asRow),
    )
  }
  return tables
}

/** A number that JavaScript cannot hold is text: one driver throws where it reads it, and another one rounds it. */
function exactly(column: string): string {
  const isExact = `typeof(${column}) <> 'integer' OR ${column} BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}`
  return `CASE WHEN ${isExact} THEN ${column} ELSE CAST(${column} AS TEXT) END AS ${column}`
}

export function readSqliteFacts(database: SqliteDatabase): TableFacts {
  const facts = new Map<string, TableFact>()
  for (const name of tableNames(database)) {
    const keys = columnsOf(database, name)
      .filter(({ pk }) => pk > 0)
      .sort((a, b) => a.pk - b.pk)
    // Only an INTEGER PRIMARY KEY is an alias of the row id, which SQLite generates.
    const counted = keys.length === 1 && keys[0]?.type.toUpperCase() === 'INTEGER' ? [keys[0].name] : []
    facts.set(name, {
      primaryKey: keys.map((key) => key.name),
      counted: new Set(counted),
      refersTo: new Map(foreignKeys(database, name).map(({ from, table }) => [from, table])),
    })
  }
  return facts
}

interface Column {
  readonly name: string
  readonly type: string
  readonly pk: number
  /** 1 if `SELECT *` leaves it out. Columns that are computed have more. */
  readonly hidden: number
}

function columnsOf(database: SqliteDatabase, table: string): Column[] {
  const columns = database.prepare(`PRAGMA table_xinfo(${quoted(table)})`).all() as Column[]
  return columns.filter(({ hidden }) => hidden !== 1)
}

function foreignKeys(database: SqliteDatabase, table: string): { from: string; table: string }[] {
  return database.prepare(`PRAGMA foreign_key_list(${quoted(table)})`).all() as { from: string; table: string }[]
}

function tableNames(database: SqliteDatabase): string[] {
  const rows = database
    .prepare(
      `SELECT name FROM sqlite_schema WHERE type = 'table'
         AND name NOT LIKE 'justonce\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`,
    )
    .all() as { name: string }[]
  return rows.map(({ name }) => name)
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
