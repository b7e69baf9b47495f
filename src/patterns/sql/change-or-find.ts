import { type Fragment, Name, sql } from './fragment.ts'
import { leftUndone, mostRounds } from './refusals.ts'
import type { Row, Runner } from './runner.ts'

export type ChangedOrFound =
  | { readonly kind: 'changed' }
  /** Nothing was changed; this is the row as it is now, and the column that was asked for. */
  | ({ readonly kind: 'found' } & Found)
  | { readonly kind: 'missing' }

export interface Found {
  readonly row: Row
  readonly current: unknown
  readonly isSame: boolean
}

export interface ChangeOrFind {
  readonly table: Name
  /** The statement, without RETURNING. */
  readonly change: Fragment
  /** Which row it is about. */
  readonly where: Fragment
  /** What must be true of the row for the change to happen. If not given, the change happens only if there is no such row. */
  readonly condition?: Fragment
  /** The column that is read as `current`. It may have another name in the row, if the client changes names. */
  readonly read?: Name
  /** Whether the row says already what the caller wants it to say: `isSame`. The database compares, as it did when it kept the row. */
  readonly same?: Fragment
}

const changed = new Name(['justonce_changed'])
const fits = new Name(['justonce_fits'])
const value = new Name(['justonce_current'])
const equal = new Name(['justonce_same'])
const found = new Name(['justonce_found'])
const ours = ['justonce_fits', 'justonce_current', 'justonce_same'] as const

/**
 * Changes a row, or says what is in the way. On Postgres that is one statement. Where another transaction has changed the row in
 * the same moment, the statement does not see that, and a second one looks again. If nothing is in the way by then, the change is
 * tried again: otherwise the answer would contradict the row that comes with it.
 */
export async function changeOrFind(runner: Runner, given: ChangeOrFind): Promise<ChangedOrFound> {
  for (let round = 1; ; round++) {
    const outcome = await changeOrLook(runner, given)
    if (outcome.kind !== 'fits') return outcome
    if (round === mostRounds) throw leftUndone(given.table)
  }
}

type Outcome = ChangedOrFound | ({ readonly kind: 'fits' } & Found)

async function changeOrLook(runner: Runner, given: ChangeOrFind): Promise<Outcome> {
  const { table, change, where, condition, read, same } = given
  if (runner.dialect !== 'postgres')
    return (await runner.change(change)) > 0 ? { kind: 'changed' } : look(runner, given)
  const [current, isSame] = [read ?? sql`NULL`, sql`coalesce(${same ?? sql`false`}, false)`]
  const [row] = await runner.rows(
    sql`
    WITH justonce_change AS (${change} RETURNING *)
    SELECT true AS ${changed}, true AS ${fits}, ${current} AS ${value}, true AS ${equal}, * FROM justonce_change
    UNION ALL
    SELECT false, coalesce(${condition ?? sql`false`}, false), ${current}, ${isSame}, * FROM ${table}
    WHERE ${where} AND NOT EXISTS (SELECT FROM justonce_change)`,
    'justonce_changed',
    ...ours,
  )
  if (row === undefined) return condition === undefined ? await look(runner, given) : { kind: 'missing' }
  const { justonce_changed: wasChanged, ...present } = row
  if (wasChanged === true) return { kind: 'changed' }
  return present.justonce_fits === true ? await look(runner, given) : outcomeOf(present)
}

/** The row as it is now. */
export async function find(
  runner: Runner,
  given: Pick<ChangeOrFind, 'table' | 'where' | 'same'>,
): Promise<Exclude<ChangedOrFound, { kind: 'changed' }>> {
  const { kind, ...present } = await look(runner, given)
  return kind === 'missing' ? { kind } : { kind: 'found', ...(present as Found) }
}

/** A locking read, because MySQL shows an older state otherwise if the caller's transaction is stricter than usual. */
async function look(runner: Runner, given: Omit<ChangeOrFind, 'change'>): Promise<Outcome> {
  const { table, where, condition, read, same } = given
  const lock = runner.dialect === 'mysql' ? sql` LOCK IN SHARE MODE` : sql``
  const fitting = condition === undefined ? sql`false` : sql`coalesce(${condition}, false)`
  const [current, isSame] = [read ?? sql`NULL`, sql`coalesce(${same ?? sql`false`}, false)`]
  const [row] = await runner.rows(
    // SQLite knows no `schema.table.*`.
    sql`SELECT ${fitting} AS ${fits}, ${current} AS ${value}, ${isSame} AS ${equal}, ${found}.*
    FROM ${table} AS ${found} WHERE ${where}${lock}`,
    ...ours,
  )
  return row === undefined ? { kind: 'missing' } : outcomeOf(row)
}

function outcomeOf({ justonce_fits: wouldFit, justonce_current: current, justonce_same: same, ...row }: Row): Outcome {
  // 1 or '1' where the database or the client has no booleans.
  return { kind: Number(wouldFit) === 1 ? 'fits' : 'found', row, current, isSame: Number(same) === 1 }
}
