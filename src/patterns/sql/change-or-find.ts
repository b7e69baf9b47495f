import { type Fragment, Name, sql } from './fragment.ts'
import type { Row, Runner } from './runner.ts'

export type ChangedOrFound =
  | { readonly kind: 'changed' }
  /** Nothing was changed; this is the row as it is now. */
  | { readonly kind: 'found'; readonly row: Row }
  | { readonly kind: 'missing' }

export interface ChangeOrFind {
  readonly table: Name
  /** The statement, without RETURNING. */
  readonly change: Fragment
  /** Which row it is about. */
  readonly where: Fragment
  /** What must be true of the row for the change to happen. If not given, the change happens only if there is no such row. */
  readonly condition?: Fragment
}

const changed = new Name(['justonce_changed'])
const fits = new Name(['justonce_fits'])

/** How often a change is tried again that nothing is in the way of any more. */
const mostRounds = 10

/**
 * Changes a row, or says what is in the way. On Postgres that is one statement. Where another transaction has changed the row in
 * the same moment, the statement does not see that, and a second one looks again. If nothing is in the way by then, the change is
 * tried again: otherwise the answer would contradict the row that comes with it.
 */
export async function changeOrFind(runner: Runner, given: ChangeOrFind): Promise<ChangedOrFound> {
  for (let round = 1; ; round++) {
    const outcome = await changeOrLook(runner, given)
    if (outcome.kind !== 'fits') return outcome
    if (round === mostRounds) return { kind: 'found', row: outcome.row }
  }
}

type Outcome = ChangedOrFound | { readonly kind: 'fits'; readonly row: Row }

async function changeOrLook(runner: Runner, given: ChangeOrFind): Promise<Outcome> {
  const { table, change, where, condition } = given
  if (runner.dialect !== 'postgres')
    return (await runner.change(change)) > 0 ? { kind: 'changed' } : look(runner, given)
  const [row] = await runner.rows(sql`
    WITH justonce_change AS (${change} RETURNING *)
    SELECT true AS ${changed}, true AS ${fits}, * FROM justonce_change
    UNION ALL
    SELECT false, coalesce(${condition ?? sql`false`}, false), * FROM ${table}
    WHERE ${where} AND NOT EXISTS (SELECT FROM justonce_change)`)
  if (row === undefined) return condition === undefined ? await look(runner, given) : { kind: 'missing' }
  const { justonce_changed: wasChanged, justonce_fits: wouldFit, ...found } = row
  if (wasChanged === true) return { kind: 'changed' }
  return wouldFit === true ? await look(runner, given) : { kind: 'found', row: found }
}

/** A locking read, because MySQL shows an older state otherwise if the caller's transaction is stricter than usual. */
async function look(runner: Runner, { table, where, condition }: ChangeOrFind): Promise<Outcome> {
  const lock = runner.dialect === 'mysql' ? sql` LOCK IN SHARE MODE` : sql``
  const fitting = condition === undefined ? sql`` : sql`, coalesce(${condition}, false) AS ${fits}`
  const [row] = await runner.rows(sql`SELECT ${table}.*${fitting} FROM ${table} WHERE ${where}${lock}`)
  if (row === undefined) return { kind: 'missing' }
  const { justonce_fits: wouldFit = false, ...found } = row
  return { kind: Number(wouldFit) === 1 ? 'fits' : 'found', row: found }
}
