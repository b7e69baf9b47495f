import { JustonceError } from '../errors/index.ts'
import { insertInto, insertOnce, storedDifferently, type UniqueOptions } from './insert-once.ts'
import { columnList, keyOf, type Table, tableName, whereOf } from './sql/conditions.ts'
import { isDuplicateKey } from './sql/duplicate-key.ts'
import { type Fragment, joined, sql } from './sql/fragment.ts'
import { type Row, type Runner, runnerOf } from './sql/runner.ts'

/** What `insertManyOnce()` answers. */
export interface InsertedMany<Given extends Row> {
  /** Those that were new, in the order in which they were given. */
  readonly inserted: readonly Given[]
  /** Those that were there before, or came twice in the list. */
  readonly existing: readonly Given[]
}

/** Values in one statement; Postgres allows 65,535. */
const mostValues = 10_000
const mostRows = 200

/**
 * Inserts rows unless there are ones with the same unique columns, and says which were new. Rows are inserted in the order of
 * their keys, so that two transactions with the same rows wait for each other instead of ending in a deadlock.
 *
 * ```ts
 * const { inserted } = await insertManyOnce(tx, 'visits', visits, { unique: ['visit_id'] })
 * ```
 */
export async function insertManyOnce<Given extends Row>(
  tx: unknown,
  table: Table,
  rows: readonly Given[],
  { unique }: UniqueOptions,
): Promise<InsertedMany<Given>> {
  const runner = runnerOf(tx)
  const places = sortedByKey(rows, unique)
  checkSameColumns(rows)
  const isNew = new Set<number>()
  const columns = Object.keys(rows[0] ?? {}).length + unique.length
  const size = Math.max(1, Math.min(mostRows, Math.floor(mostValues / Math.max(1, columns))))
  for (let from = 0; from < places.length; from += size) {
    const chunk = places.slice(from, from + size)
    const some = chunk.map((place) => rows[place] as Given)
    for (const index of await insertChunk(runner, tx, table, some, unique)) isNew.add(chunk[index] as number)
  }
  return {
    inserted: rows.filter((_, place) => isNew.has(place)),
    existing: rows.filter((_, place) => !isNew.has(place)),
  }
}

/** Resolves to the places of those that were new. */
async function insertChunk(
  runner: Runner,
  tx: unknown,
  table: Table,
  rows: readonly Row[],
  unique: readonly string[],
): Promise<readonly number[]> {
  const name = tableName(table)
  if (runner.dialect === 'postgres') {
    const found = await runner.rows(
      sql`
      WITH justonce_change AS (
        ${insertInto(name, rows)} ON CONFLICT (${columnList(unique)}) DO NOTHING RETURNING ${columnList(unique)}
      )
      SELECT ${placeOf(rows, unique)} AS place FROM justonce_change`,
      'place',
    )
    // Which row it was cannot be told then, and the first one would be taken for new.
    if (found.some(({ place }) => place === null)) throw storedDifferently(name, unique)
    return found.map(({ place }) => Number(place))
  }
  if (runner.dialect === 'sqlite') return await oneByOne(tx, table, rows, unique)
  const existing = await runner.rows(sql`
    SELECT ${placeOf(rows, unique)} AS place FROM ${name}
    WHERE ${joined(
      rows.map((row) => sql`(${whereOf(keyOf(row, unique))})`),
      ' OR ',
    )} LOCK IN SHARE MODE`)
  const known = new Set(existing.map(({ place }) => Number(place)))
  const missing = rows.flatMap((_, place) => (known.has(place) ? [] : place))
  try {
    if (missing.length > 0)
      await runner.change(
        insertInto(
          name,
          missing.map((place) => rows[place] as Row),
        ),
      )
    return missing
  } catch (error) {
    // A rival has inserted one of them since, or one is twice in the list. Nothing of the statement stands.
    if (!isDuplicateKey(error)) throw error
    return await oneByOne(tx, table, rows, unique)
  }
}

async function oneByOne(
  tx: unknown,
  table: Table,
  rows: readonly Row[],
  unique: readonly string[],
): Promise<readonly number[]> {
  const isNew: number[] = []
  for (const [place, row] of rows.entries())
    if ((await insertOnce(tx, table, row, { unique })).kind === 'inserted') isNew.push(place)
  return isNew
}

/** Which of the rows it is. The database compares, because it may call texts equal that JavaScript does not. */
function placeOf(rows: readonly Row[], unique: readonly string[]): Fragment {
  const cases = rows.map((row, place) => sql`WHEN ${whereOf(keyOf(row, unique))} THEN ${literal(place)}`)
  return sql`CASE ${joined(cases, ' ')} END`
}

function literal(place: number): Fragment {
  return joined([sql`${place}`], ' ')
}

function sortedByKey(rows: readonly Row[], unique: readonly string[]): readonly number[] {
  const keys = rows.map((row) => Object.values(keyOf(row, unique)).map(String).join('\0'))
  return rows.map((_, place) => place).sort((a, b) => ((keys[a] as string) < (keys[b] as string) ? -1 : 1))
}

function checkSameColumns(rows: readonly Row[]): void {
  const columns = (row: Row): string => Object.keys(row).sort().join()
  const other = rows.find((row) => columns(row) !== columns(rows[0] as Row))
  if (other === undefined) return
  throw new JustonceError('OPTION_INVALID', {
    message: `All rows must have the same columns, but one has ${columns(other)} and the first ${columns(rows[0] as Row)}.`,
  })
}
