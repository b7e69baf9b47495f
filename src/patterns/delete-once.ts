import { type Changes, type Table, tableName, type Where, whereOf } from './sql/conditions.ts'
import { type Fragment, Name, sql } from './sql/fragment.ts'
import { leftUndone, mostRounds } from './sql/refusals.ts'
import { type Row, type Runner, runnerOf } from './sql/runner.ts'
import { updateIf } from './update-if.ts'

/** Deletes a row. That it is gone already is an answer, not an error. */
export async function deleteOnce(
  tx: unknown,
  table: Table,
  where: Where,
): Promise<{ readonly kind: 'deleted' | 'missing' }> {
  const runner = runnerOf(tx)
  const name = tableName(table)
  for (let round = 1; ; round++) {
    const outcome = await deleteOrLook(runner, name, whereOf(where))
    if (outcome !== 'left') return { kind: outcome }
    if (round === mostRounds) throw leftUndone(name)
  }
}

/** `left`: it is there, although nothing is in the way. MySQL deletes what it finds or throws. */
async function deleteOrLook(runner: Runner, table: Name, where: Fragment): Promise<'deleted' | 'missing' | 'left'> {
  const change = sql`DELETE FROM ${table} WHERE ${where}`
  const look = sql`SELECT 1 AS found FROM ${table} WHERE ${where} LIMIT 1`
  if (runner.dialect !== 'postgres') {
    if ((await runner.change(change)) > 0) return 'deleted'
    return runner.dialect === 'mysql' || (await runner.rows(look)).length === 0 ? 'missing' : 'left'
  }
  const [found = {}] = await runner.rows(
    sql`
    WITH justonce_change AS (${change} RETURNING 1)
    SELECT EXISTS (SELECT FROM justonce_change) AS ${ours[0]}, EXISTS (SELECT FROM ${table} WHERE ${where}) AS ${ours[1]}`,
    'justonce_deleted',
    'justonce_there',
  )
  if (found.justonce_deleted === true) return 'deleted'
  // What was there when the statement began may be gone since: a rival has deleted it.
  return found.justonce_there === true && (await runner.rows(look, 'found')).length > 0 ? 'left' : 'missing'
}

const ours = [new Name(['justonce_deleted']), new Name(['justonce_there'])] as const

/** What `softDelete()` answers. */
export type SoftDeleted =
  | { readonly kind: 'deleted' }
  /** It was marked before: this is the row as it is. */
  | { readonly kind: 'already'; readonly row: Row }
  | { readonly kind: 'missing' }

/** What `softDelete()` takes. */
export interface SoftDeleteOptions {
  /** The column that is not null in deleted rows. Default: `deleted_at`. */
  readonly column?: string
  /** What it is set to. Default: the present time. */
  readonly value?: unknown
  /** Other columns that change with it. */
  readonly set?: Changes
}

/** Marks a row as deleted, and leaves one alone that is marked: the first time stays. */
export async function softDelete(
  tx: unknown,
  table: Table,
  where: Where,
  { column = 'deleted_at', value = new Date(), set = {} }: SoftDeleteOptions = {},
): Promise<SoftDeleted> {
  const outcome = await updateIf(tx, table, where, { if: { [column]: null }, set: { ...set, [column]: value } })
  if (outcome.kind === 'updated') return { kind: 'deleted' }
  return outcome.kind === 'unmet' ? { kind: 'already', row: outcome.row } : outcome
}
