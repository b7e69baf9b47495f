import { type Changes, type Table, tableName, type Where, whereOf } from './sql/conditions.ts'
import { sql } from './sql/fragment.ts'
import { type Row, runnerOf } from './sql/runner.ts'
import { updateIf } from './update-if.ts'

/** Deletes a row. That it is gone already is an answer, not an error. */
export async function deleteOnce(
  tx: unknown,
  table: Table,
  where: Where,
): Promise<{ readonly kind: 'deleted' | 'missing' }> {
  const deleted = await runnerOf(tx).change(sql`DELETE FROM ${tableName(table)} WHERE ${whereOf(where)}`)
  return { kind: deleted > 0 ? 'deleted' : 'missing' }
}

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
