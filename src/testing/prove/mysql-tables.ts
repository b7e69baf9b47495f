import { asRow, type Row, type TableFact, type TableFacts, type Tables } from './tables.ts'

export type AskMysql = (sql: string, values?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>

/** The tables of the current database, with a query that works in both MySQL and MariaDB. */
async function mysqlTableNames(ask: AskMysql): Promise<readonly string[]> {
  const rows = await ask(
    `SELECT table_name AS name FROM information_schema.tables
       WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY table_name`,
  )
  return rows.map(({ name }) => String(name))
}

export interface TableToCopy {
  readonly name: string
  /** The columns that can be written. Computed columns cannot. */
  readonly columns: readonly string[]
}

export async function mysqlTablesToCopy(ask: AskMysql): Promise<readonly TableToCopy[]> {
  const rows = await ask(
    `SELECT c.table_name AS \`table\`, c.column_name AS \`column\` FROM information_schema.columns c
       JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
       WHERE c.table_schema = DATABASE() AND t.table_type = 'BASE TABLE' AND COALESCE(c.generation_expression, '') = ''
       ORDER BY c.table_name, c.ordinal_position`,
  )
  const columnsOf = Map.groupBy(rows, ({ table }) => String(table))
  return [...columnsOf].map(([name, columns]) => ({ name, columns: columns.map(({ column }) => String(column)) }))
}

export function isOwn(table: string): boolean {
  return table.startsWith('justonce_')
}

export async function readMysqlTables(ask: AskMysql): Promise<Tables> {
  const tables = new Map<string, readonly Row[]>()
  for (const name of await mysqlTableNames(ask))
    if (!isOwn(name)) tables.set(name, (await ask('SELECT * FROM ??', [name])).map(asRow))
  return tables
}

export async function readMysqlFacts(ask: AskMysql): Promise<TableFacts> {
  const columns = await ask(
    `SELECT c.table_name AS \`table\`, c.column_name AS \`column\`, c.extra LIKE '%auto_increment%' AS counted,
        MAX(CASE WHEN k.constraint_name = 'PRIMARY' THEN k.ordinal_position END) AS key_place,
        MAX(k.referenced_table_name) AS refers_to
      FROM information_schema.columns c LEFT JOIN information_schema.key_column_usage k
        ON k.table_schema = c.table_schema AND k.table_name = c.table_name AND k.column_name = c.column_name
      WHERE c.table_schema = DATABASE() GROUP BY c.table_name, c.column_name, c.extra ORDER BY 1, key_place`,
  )
  const facts = new Map<string, TableFact>()
  for (const [table, ofTable] of Map.groupBy(columns, ({ table }) => String(table))) {
    if (isOwn(table)) continue
    facts.set(table, {
      primaryKey: ofTable.filter(({ key_place }) => key_place !== null).map(({ column }) => String(column)),
      counted: new Set(ofTable.filter(({ counted }) => Number(counted) === 1).map(({ column }) => String(column))),
      refersTo: new Map(
        ofTable
          .filter(({ refers_to }) => refers_to !== null)
          .map(({ column, refers_to }) => [String(column), String(refers_to)]),
      ),
    })
  }
  return facts
}
