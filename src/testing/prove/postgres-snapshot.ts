import type { Rows } from './postgres-clients.ts'
import { identifier, literal } from './postgres-tables.ts'

type Ask = (text: string) => Promise<Rows>

/** The rows and counters of a schema. Restoring them is much faster than creating all tables again. */
export interface PostgresSnapshot {
  /** Resolves to false if the tables themselves have changed. */
  restore(): Promise<boolean>
}

const inSchema = `relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`

const tableQuery = `
  SELECT c.relname AS name, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS columns
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    WHERE ${inSchema} GROUP BY c.oid, c.relname ORDER BY c.relname`

const referenceQuery = `
  SELECT DISTINCT c.relname AS child, p.relname AS parent
    FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid JOIN pg_class p ON p.oid = f.confrelid
    WHERE f.contype = 'f' AND c.oid <> p.oid AND c.relnamespace = current_schema()::regnamespace`

/** Finds anything that would change rows as they are restored. */
const obstacleQuery = `
  SELECT 1 FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal AND ${inSchema}
  UNION ALL SELECT 1 FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class WHERE ${inSchema}`

const shapeQuery = `SELECT coalesce(string_agg(oid::text, ' ' ORDER BY oid), '') AS shape
  FROM pg_class WHERE relnamespace = current_schema()::regnamespace`

/** `undefined` if restoring rows is not enough: tables with triggers or rules, or with circular references. */
export async function takeSnapshot(ask: Ask): Promise<PostgresSnapshot | undefined> {
  const obstacles = await ask(obstacleQuery)
  const tables = parentsFirst(await ask(tableQuery), await ask(referenceQuery))
  if (obstacles.length > 0 || tables === undefined) return undefined
  const shape = await shapeOf(ask)
  const statements = tables.toReversed().map(({ name }) => `DELETE FROM ${identifier(name)}`)
  for (const { name, columns } of tables) {
    const [row] = await ask(`SELECT json_agg(row_to_json(t))::text AS rows FROM ${identifier(name)} t`)
    if (row?.rows === null || row === undefined) continue
    statements.push(
      `INSERT INTO ${identifier(name)} (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns}
         FROM json_populate_recordset(null::${identifier(name)}, ${literal(row.rows)})`,
    )
  }
  statements.push(...(await countersIn(ask)))
  return {
    async restore() {
      if ((await shapeOf(ask)) !== shape) return false
      await ask(statements.join(';\n'))
      return true
    },
  }
}

async function shapeOf(ask: Ask): Promise<unknown> {
  return (await ask(shapeQuery))[0]?.shape
}

async function countersIn(ask: Ask): Promise<string[]> {
  const sequences = await ask(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'S' AND relnamespace = current_schema()::regnamespace`,
  )
  const statements: string[] = []
  for (const { name } of sequences) {
    const [state] = await ask(`SELECT last_value::text AS last, is_called FROM ${identifier(name)}`)
    statements.push(`SELECT setval(${literal(identifier(name))}, ${state?.last}, ${state?.is_called})`)
  }
  return statements
}

/** A row can refer only to rows that already exist. */
function parentsFirst(tables: Rows, references: Rows): Rows | undefined {
  const sorted: Record<string, unknown>[] = []
  let left = [...tables]
  while (left.length > 0) {
    const waiting = new Set(left.map(({ name }) => name))
    const ready = left.filter(
      ({ name }) => !references.some(({ child, parent }) => child === name && waiting.has(parent)),
    )
    if (ready.length === 0) return undefined
    sorted.push(...ready)
    left = left.filter((table) => !ready.includes(table))
  }
  return sorted
}
