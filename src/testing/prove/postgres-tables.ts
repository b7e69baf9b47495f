import { parseToRewrite } from '../../encoding/exact-json.ts'
import type { Rows } from './postgres-clients.ts'
import { asRow, type Row, type TableFact, type TableFacts, type Tables } from './tables.ts'

type Ask = (text: string) => Promise<Rows>

const ownTables = `FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND NOT starts_with(c.relname, 'justonce_')`

export async function readPostgresTables(ask: Ask): Promise<Tables> {
  const names = await ask(`SELECT c.relname AS name ${ownTables} ORDER BY c.relname`)
  if (names.length === 0) return new Map()
  const selects = names.map(
    ({ name }) =>
      `SELECT ${literal(name)} AS name, coalesce(json_agg(row_to_json(t)), '[]')::text AS rows FROM ${identifier(name)} t`,
  )
  const tables = new Map<string, readonly Row[]>()
  for (const { name, rows } of await ask(selects.join(' UNION ALL ')))
    tables.set(String(name), (parseToRewrite(String(rows)) as unknown[]).map(asRow))
  return tables
}

export async function readPostgresFacts(ask: Ask): Promise<TableFacts> {
  const columns = await ask(`
    SELECT c.relname AS table, a.attname AS column,
      a.attidentity <> '' OR coalesce(pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%', false) AS counted,
      coalesce(array_position(i.indkey::int2[], a.attnum), -1) AS key_place,
      (SELECT f.confrelid::regclass::text FROM pg_constraint f
         WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.conkey = ARRAY[a.attnum]) AS refers_to
    FROM (SELECT c.oid, c.relname ${ownTables}) c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
      LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
    ORDER BY 1, key_place`)
  const facts = new Map<string, TableFact>()
  for (const [table, ofTable] of Map.groupBy(columns, ({ table }) => String(table))) {
    facts.set(table, {
      primaryKey: ofTable.filter(({ key_place }) => Number(key_place) >= 0).map(({ column }) => String(column)),
      counted: new Set(ofTable.filter(({ counted }) => counted === true).map(({ column }) => String(column))),
      refersTo: new Map(
        ofTable
          .filter(({ refers_to }) => refers_to !== null)
          .map(({ column, refers_to }) => [String(column), String(refers_to).replaceAll('"', '')]),
      ),
    })
  }
  return facts
}

export function identifier(name: unknown): string {
  return `"${String(name).replaceAll('"', '""')}"`
}

export function literal(name: unknown): string {
  return `'${String(name).replaceAll("'", "''")}'`
}
