import { JustonceError } from '../errors/index.ts'
import { checkRounds, insertInto, type UniqueOptions } from './insert-once.ts'
import { changeOrFind } from './sql/change-or-find.ts'
import { assignments, columnList, keyOf, type Table, tableName, whereOf } from './sql/conditions.ts'
import { isDuplicateKey } from './sql/duplicate-key.ts'
import { type Fragment, Name, sql } from './sql/fragment.ts'
import { leftUndone, mostRounds } from './sql/refusals.ts'
import { type Row, type Runner, runnerOf } from './sql/runner.ts'

const fits = new Name(['justonce_fits'])

/** What `upsert()` takes. */
export interface UpsertOptions extends UniqueOptions {
  /** The columns that are changed if the row exists. Default: all that are given, except the unique ones. */
  readonly update?: readonly string[]
}

/**
 * Inserts a row, or changes the one with the same unique columns. The last one wins: messages that may arrive in another
 * order than they were sent need `upsertLatest`.
 */
export async function upsert(
  tx: unknown,
  table: Table,
  row: Row,
  { unique, update = Object.keys(row).filter((name) => !unique.includes(name)) }: UpsertOptions,
): Promise<{ readonly kind: 'inserted' | 'updated' }> {
  const runner = runnerOf(tx)
  const name = tableName(table)
  const where = whereOf(keyOf(row, unique))
  // Without a column to change, a unique one is set to what it is: then the row counts as updated everywhere.
  const changed = update.length > 0 ? update : unique
  const set = assignments(Object.fromEntries(changed.map((each) => [each, row[each]])))
  if (runner.dialect === 'postgres') {
    const change = insertOrUpdate({ name, row, unique, set, where })
    for (let round = 1; ; round++) {
      const [found = {}] = await runner.rows(sql`${change} SELECT ${changes}`, ...ours)
      const kind = changeIn(found)
      if (kind !== undefined) return { kind }
      checkRounds(round, name, unique)
    }
  }
  for (let round = 1; ; round++) {
    const [existing] = await runner.rows(sql`SELECT 1 AS found FROM ${name} WHERE ${where}${lockOf(runner)}`)
    if (existing !== undefined) {
      if ((await runner.change(sql`UPDATE ${name} SET ${set} WHERE ${where}`)) > 0) return { kind: 'updated' }
      if (round === mostRounds) throw leftUndone(name)
      continue
    }
    if (await insertedAlone(runner, name, row, where)) return { kind: 'inserted' }
  }
}

/** What `upsertLatest()` answers. */
export type UpsertedLatest =
  | { readonly kind: 'inserted' | 'updated' }
  /** What is stored is as new or newer: this is the row as it is. */
  | { readonly kind: 'older'; readonly row: Row }

/** What `upsertLatest()` takes. */
export interface UpsertLatestOptions extends UniqueOptions {
  /** The column that says which is newer: a time or a version. */
  readonly by: string
  /** What happens if both are equally new. Default: `keep` what is stored. */
  readonly ties?: 'keep' | 'replace'
}

/**
 * Inserts a row, or replaces the one with the same unique columns if this one is newer. Messages may arrive in any order and any
 * number of times.
 *
 * ```ts
 * await upsertLatest(tx, 'profiles', { user_id, name, changed_at }, { unique: ['user_id'], by: 'changed_at' })
 * ```
 */
export async function upsertLatest(
  tx: unknown,
  table: Table,
  row: Row,
  { unique, by, ties = 'keep' }: UpsertLatestOptions,
): Promise<UpsertedLatest> {
  const runner = runnerOf(tx)
  const name = tableName(table)
  const where = whereOf(keyOf(row, unique))
  if (row[by] === undefined || row[by] === null)
    throw new JustonceError('OPTION_INVALID', { message: `The row has no value for ${by}, which says how new it is.` })
  const changed = Object.keys(row).filter((each) => !unique.includes(each))
  const set = assignments(Object.fromEntries(changed.map((each) => [each, row[each]])))
  const column = new Name([by])
  const condition =
    ties === 'keep'
      ? sql`(${column} IS NULL OR ${column} < ${row[by]})`
      : sql`(${column} IS NULL OR ${column} <= ${row[by]})`
  if (runner.dialect === 'postgres') {
    const change = insertOrUpdate({ name, row, unique, set, where: sql`${where} AND ${condition}` })
    for (let round = 1; ; round++) {
      const outcome = await changedOrOlder(runner, change, { name, where, condition, unique })
      if (outcome !== undefined) return outcome
      checkRounds(round, name, unique)
    }
  }
  for (;;) {
    const change = sql`UPDATE ${name} SET ${set} WHERE ${where} AND ${condition}`
    const outcome = await changeOrFind(runner, { table: name, change, where, condition })
    if (outcome.kind === 'changed') return { kind: 'updated' }
    if (outcome.kind === 'found') return { kind: 'older', row: outcome.row }
    if (await insertedAlone(runner, name, row, where)) return { kind: 'inserted' }
  }
}

interface Writing {
  readonly name: Name
  readonly row: Row
  readonly unique: readonly string[]
  readonly set: Fragment
  readonly where: Fragment
}

/**
 * For Postgres. ON CONFLICT DO UPDATE does not say which of both it has done, except through a system column that partitioned
 * tables do not have. Does neither if a rival has inserted the row since the statement began: the next one sees it.
 */
function insertOrUpdate({ name, row, unique, set, where }: Writing): Fragment {
  return sql`
    WITH justonce_insert AS (
      ${insertInto(name, [row])} ON CONFLICT (${columnList(unique)}) DO NOTHING RETURNING 1
    ), justonce_update AS (
      UPDATE ${name} SET ${set} WHERE ${where} AND NOT EXISTS (SELECT FROM justonce_insert) RETURNING 1
    )`
}

const ours = ['justonce_inserted', 'justonce_updated'] as const
const [insertedName, updatedName] = ours.map((name) => new Name([name]))
const changes = sql`EXISTS (SELECT FROM justonce_insert) AS ${insertedName}, EXISTS (SELECT FROM justonce_update) AS ${updatedName}`

function changeIn({ justonce_inserted: inserted, justonce_updated: updated }: Row): 'inserted' | 'updated' | undefined {
  if (inserted === true) return 'inserted'
  return updated === true ? 'updated' : undefined
}

/** Undefined if the row that was there when the statement began does not say why nothing was changed. */
async function changedOrOlder(
  runner: Runner,
  change: Fragment,
  { name, unique, where, condition }: Omit<Writing, 'row' | 'set'> & { readonly condition: Fragment },
): Promise<UpsertedLatest | undefined> {
  const isThere = sql`${new Name([unique[0] as string])} IS NOT NULL`
  const [found = {}] = await runner.rows(
    sql`${change}
    SELECT ${changes}, CASE WHEN ${isThere} THEN coalesce(${condition}, false) END AS ${fits}, ${name}.*
    FROM (SELECT) AS justonce_one LEFT JOIN ${name}
      ON ${where} AND NOT EXISTS (SELECT FROM justonce_insert) AND NOT EXISTS (SELECT FROM justonce_update)`,
    ...[...ours, 'justonce_fits'],
  )
  const kind = changeIn(found)
  if (kind !== undefined) return { kind }
  const { justonce_inserted: _, justonce_updated: __, justonce_fits: wouldFit, ...row } = found
  return wouldFit === false ? { kind: 'older', row } : undefined
}

/** False if a rival has inserted one with the same key; nothing of the statement stands then. */
async function insertedAlone(runner: Runner, table: Name, row: Row, where: Fragment): Promise<boolean> {
  try {
    await runner.change(insertInto(table, [row]))
    return true
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
    if (await isThere(runner, table, where)) return false
  }
  await runner.change(insertInto(table, [row]))
  return true
}

/** If it is not there, another unique index was in the way, and inserting it again shows which. */
async function isThere(runner: Runner, table: Name, where: Fragment): Promise<boolean> {
  const lock = runner.dialect === 'mysql' ? sql` LOCK IN SHARE MODE` : sql``
  return (await runner.rows(sql`SELECT 1 AS found FROM ${table} WHERE ${where}${lock}`)).length > 0
}

function lockOf({ dialect }: Runner): Fragment {
  return dialect === 'mysql' ? sql` FOR UPDATE` : sql``
}
