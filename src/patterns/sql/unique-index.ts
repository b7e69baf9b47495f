import { JustonceError } from '../../errors/index.ts'
import { type Name, sql } from './fragment.ts'
import type { Row, Runner } from './runner.ts'

/** Tables, and the columns of a unique index that they have. */
const known = new Set<string>()

/**
 * MySQL has nothing like ON CONFLICT (columns), which fails without an index: it would insert the same row again and again, and
 * nobody would notice. So it is asked, once for each table in a process.
 */
export async function checkUniqueIndex(runner: Runner, table: Name, unique: readonly string[]): Promise<void> {
  if (runner.dialect !== 'mysql') return
  const what = JSON.stringify([table.parts, unique])
  if (known.has(what)) return
  const indexes = await runner.rows(sql`SHOW INDEX FROM ${table} WHERE Non_unique = 0`)
  if (!hasIndex(indexes, unique) && !(await isView(runner, table)))
    throw new JustonceError('OPTION_INVALID', {
      message: `Table ${table.parts.join('.')} has no unique index over ${unique.join(', ')}, so MySQL would insert the same row again and again.`,
    })
  known.add(what)
}

/** One over fewer columns is stricter, and does as well. */
function hasIndex(indexes: readonly Row[], unique: readonly string[]): boolean {
  const given = new Set(unique.map((name) => name.toLowerCase()))
  const isGiven = ({ Column_name: name }: Row): boolean => typeof name === 'string' && given.has(name.toLowerCase())
  const columnsByIndex = [...Map.groupBy(indexes, ({ Key_name: name }) => name).values()]
  return columnsByIndex.some((columns) => columns.every(isGiven))
}

/** A view does not show the indexes of its table. */
async function isView(runner: Runner, { parts }: Name): Promise<boolean> {
  const schema = parts.length > 1 ? sql`${parts[0]}` : sql`DATABASE()`
  const [found] = await runner.rows(sql`
    SELECT TABLE_TYPE AS type FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${schema} AND TABLE_NAME = ${parts.at(-1)}`)
  return found?.type === 'VIEW'
}
