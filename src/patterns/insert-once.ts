import { JustonceError } from '../errors/index.ts'
import { changeOrFind, type Found, find } from './sql/change-or-find.ts'
import { columnList, keyOf, type Table, tableName, valueList, whereOf } from './sql/conditions.ts'
import { isDuplicateKey } from './sql/duplicate-key.ts'
import { type Fragment, joined, type Name, sql } from './sql/fragment.ts'
import { type Row, type Runner, runnerOf } from './sql/runner.ts'

/** Which columns make two rows the same. */
export interface UniqueOptions {
  /** The columns of a unique index or of the primary key. */
  readonly unique: readonly string[]
}

/** What `insertOnce()` answers. */
export type InsertedOnce =
  | { readonly kind: 'inserted' }
  /** It was there before: this is the row as it is. */
  | { readonly kind: 'exists'; readonly row: Row }

/** How often a row that vanishes between two statements is inserted again. */
const mostRounds = 5

/**
 * Inserts a row unless there is one with the same unique columns. A duplicate is an answer, not an error, and does not abort
 * the transaction. Waits if another transaction is just inserting the same row.
 *
 * ```ts
 * const invoice = await insertOnce(tx, 'invoices', { order_id: order, total }, { unique: ['order_id'] })
 * if (invoice.kind === 'exists') return invoice.row.number
 * ```
 */
export async function insertOnce(
  tx: unknown,
  table: Table,
  row: Row,
  { unique }: UniqueOptions,
): Promise<InsertedOnce> {
  const outcome = await insertOrFind(runnerOf(tx), table, row, unique)
  return outcome.kind === 'changed' ? { kind: 'inserted' } : { kind: 'exists', row: outcome.row }
}

/** `same`: a condition whose answer comes along as `isSame` if the row exists. */
export async function insertOrFind(
  runner: Runner,
  table: Table,
  row: Row,
  unique: readonly string[],
  same?: Fragment,
): Promise<Exclude<Attempt, { kind: 'missing' }>> {
  const name = tableName(table)
  const where = whereOf(keyOf(row, unique))
  for (let round = 1; ; round++) {
    const outcome = await attempt(runner, { table: name, row, unique, where, ...(same !== undefined && { same }) })
    if (outcome.kind !== 'missing') return outcome
    if (outcome.error !== undefined) throw outcome.error
    checkRounds(round, name, unique)
  }
}

/** A key that the database stores in another form would otherwise be tried without end. */
export function checkRounds(round: number, table: Name, unique: readonly string[]): void {
  if (round >= mostRounds) throw storedDifferently(table, unique)
}

export function storedDifferently(table: Name, unique: readonly string[]): JustonceError {
  return new JustonceError('OPTION_INVALID', {
    message: `A row of ${table.parts.join('.')} was neither inserted nor found by ${unique.join(', ')}: a trigger or the type of a column stores the key in another form, a policy (row security) hides the row from this role, or rivals insert and delete it all the time.`,
  })
}

type Attempt =
  | { readonly kind: 'changed' }
  | ({ readonly kind: 'found' } & Found)
  | { readonly kind: 'missing'; readonly error?: unknown }

interface Insertion {
  readonly table: Name
  readonly row: Row
  readonly unique: readonly string[]
  readonly where: Fragment
  readonly same?: Fragment
}

async function attempt(runner: Runner, given: Insertion): Promise<Attempt> {
  const { table, row, unique, where, same } = given
  const insert = insertInto(table, [row])
  const wanted = { table, where, ...(same !== undefined && { same }) }
  if (runner.dialect !== 'mysql') {
    const change = sql`${insert} ON CONFLICT (${columnList(unique)}) DO NOTHING`
    return await changeOrFind(runner, { ...wanted, change })
  }
  // MySQL has no ON CONFLICT for one index: IGNORE hides other errors, and ON DUPLICATE KEY is about all indexes.
  try {
    return await changeOrFind(runner, { ...wanted, change: insert })
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
    const found = await find(runner, wanted)
    return found.kind === 'missing' ? { kind: 'missing', error } : found
  }
}

/** All rows must have the same columns. */
export function insertInto(table: Name, rows: readonly Row[]): Fragment {
  const names = Object.keys(rows[0] as Row)
  const lists = rows.map((row) => sql`(${valueList(names.map((name) => row[name]))})`)
  return sql`INSERT INTO ${table} (${columnList(names)}) VALUES ${joined(lists, ', ')}`
}

/** The beginning of a statement that inserts the row once for each row that follows its FROM. */
export function insertFrom(table: Name, row: Row): Fragment {
  return sql`INSERT INTO ${table} (${columnList(Object.keys(row))}) SELECT ${valueList(Object.values(row))}`
}
