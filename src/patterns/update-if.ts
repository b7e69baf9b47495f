import { type ChangedOrFound, type ChangeOrFind, changeOrFind } from './sql/change-or-find.ts'
import { add, assignments, type Changes, type Table, tableName, type Where, whereOf } from './sql/conditions.ts'
import { sql } from './sql/fragment.ts'
import { type Row, runnerOf } from './sql/runner.ts'

/** What `updateIf()` answers. */
export type UpdatedIf =
  | { readonly kind: 'updated' }
  /** The condition does not hold: this is the row as it is. */
  | { readonly kind: 'unmet'; readonly row: Row }
  | { readonly kind: 'missing' }

/** What `updateIf()` takes. */
export interface UpdateIfOptions {
  /** What must be true of the row. */
  readonly if: Where
  /** The columns that change. */
  readonly set: Changes
}

/**
 * Changes a row if a condition holds, in one statement: nobody can come in between.
 *
 * ```ts
 * await updateIf(tx, 'accounts', { id }, { if: { balance: atLeast(10) }, set: { balance: add(-10) } })
 * ```
 */
export async function updateIf(tx: unknown, table: Table, where: Where, options: UpdateIfOptions): Promise<UpdatedIf> {
  const outcome = await changeIf(tx, table, where, options)
  if (outcome.kind === 'changed') return { kind: 'updated' }
  return outcome.kind === 'found' ? { kind: 'unmet', row: outcome.row } : outcome
}

/** `read` and `same`: what comes along if the condition does not hold. */
export async function changeIf(
  tx: unknown,
  table: Table,
  where: Where,
  { if: condition, set, ...more }: UpdateIfOptions & Pick<ChangeOrFind, 'read' | 'same'>,
): Promise<ChangedOrFound> {
  const name = tableName(table)
  const wanted = whereOf(condition)
  const change = sql`UPDATE ${name} SET ${assignments(set)} WHERE ${whereOf(where)} AND ${wanted}`
  return await changeOrFind(runnerOf(tx), {
    ...{ table: name, change, where: whereOf(where), condition: wanted },
    ...more,
  })
}

/** As the client reads it: Postgres gives a bigint as text. */
export type Version = number | bigint | string

/** What `updateVersioned()` answers. */
export type UpdatedVersioned =
  /** The version that it has now, in the form in which the old one was given. */
  | { readonly kind: 'updated'; readonly version: Version }
  /** Somebody else has changed it since: this is the row as it is. */
  | { readonly kind: 'stale'; readonly row: Row }
  | { readonly kind: 'missing' }

/** What `updateVersioned()` takes. */
export interface UpdateVersionedOptions {
  /** The version that the caller has read. */
  readonly version: Version
  /** The columns that change. */
  readonly set: Changes
  /** Default: `version`. */
  readonly column?: string
}

/**
 * Changes a row if it still has the version that was read, and counts the version up (optimistic locking).
 *
 * ```ts
 * const saved = await updateVersioned(tx, 'profiles', { id }, { version: profile.version, set: { name } })
 * ```
 */
export async function updateVersioned(
  tx: unknown,
  table: Table,
  where: Where,
  { version, set, column = 'version' }: UpdateVersionedOptions,
): Promise<UpdatedVersioned> {
  const outcome = await updateIf(tx, table, where, { if: { [column]: version }, set: { ...set, [column]: add(1) } })
  if (outcome.kind === 'updated') return { kind: 'updated', version: next(version) }
  return outcome.kind === 'unmet' ? { kind: 'stale', row: outcome.row } : outcome
}

function next(version: Version): Version {
  if (typeof version === 'string') return String(BigInt(version) + 1n)
  return typeof version === 'bigint' ? version + 1n : version + 1
}
