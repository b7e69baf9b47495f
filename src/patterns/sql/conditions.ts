import { JustonceError } from '../../errors/index.ts'
import { checkAmount } from './exact-number.ts'
import { Exact, type Fragment, joined, Name, PerDialect, sql } from './fragment.ts'

/** A table; in another schema: `['schema', 'table']`. */
export type Table = string | readonly [schema: string, table: string]

/** A comparison other than equality; made by `atLeast`, `atMost`, `above`, `below`, `not` and `oneOf`. */
export class Comparison {
  readonly to: (column: Name) => Fragment

  constructor(to: (column: Name) => Fragment) {
    this.to = to
  }
}

/** A change that depends on the present value; made by `add`. */
export class Change {
  readonly of: (column: Name) => Fragment

  constructor(of: (column: Name) => Fragment) {
    this.of = of
  }
}

/** Columns and what they must be: a value, or a comparison. All of them must hold. */
export type Where = Readonly<Record<string, unknown>>

/** Columns and their new values: a value, or a change. */
export type Changes = Readonly<Record<string, unknown>>

/** A condition: the column is the value or greater. */
export const atLeast = (value: unknown): Comparison => new Comparison((column) => sql`${column} >= ${value}`)
/** A condition: the column is the value or less. */
export const atMost = (value: unknown): Comparison => new Comparison((column) => sql`${column} <= ${value}`)
/** A condition: the column is greater than the value. */
export const above = (value: unknown): Comparison => new Comparison((column) => sql`${column} > ${value}`)
/** A condition: the column is less than the value. */
export const below = (value: unknown): Comparison => new Comparison((column) => sql`${column} < ${value}`)

/** A condition: the column is anything but the value, also NULL. `not(null)`: it has a value. */
export function not(value: unknown): Comparison {
  return new Comparison((column) =>
    value === null ? sql`${column} IS NOT NULL` : sql`(NOT (${equals(column, value)}) OR ${column} IS NULL)`,
  )
}

/** A condition: the column is one of the values. */
export function oneOf(values: readonly unknown[]): Comparison {
  if (values.length === 0) throw new JustonceError('OPTION_INVALID', { message: 'oneOf() needs at least one value.' })
  const listed = valueList(values)
  return new Comparison((column) => {
    const each = values.map((value) => equals(column, value))
    return sql`${new PerDialect((dialect) => (dialect === 'mysql' ? sql`(${joined(each, ' OR ')})` : sql`${column} IN (${listed})`))}`
  })
}

/**
 * MySQL compares a text with a number as numbers: 7 would be '007' as well, and 0 each text that does not begin with a digit. Compared
 * with digits as text, a text is only what it is; but then MySQL rounds decimals. So both must hold.
 */
export function equals(column: Name, value: unknown): Fragment {
  const plain = sql`${column} = ${value}`
  if (typeof value !== 'number' && typeof value !== 'bigint' && typeof value !== 'boolean') return plain
  const digits = String(typeof value === 'boolean' ? Number(value) : value)
  return sql`${new PerDialect((dialect) => (dialect === 'mysql' ? sql`(${column} = ${digits} AND ${plain})` : plain))}`
}

/** Adds to the present value of a column; a negative number subtracts. */
export function add(amount: number | bigint | string): Change {
  if (typeof amount === 'string') checkAmount(amount, 'What is added')
  return new Change((column) => sql`${column} + ${new Exact(amount)}`)
}

export function tableName(table: Table): Name {
  return new Name(typeof table === 'string' ? [table] : table)
}

/** Refuses an empty condition, because that would be all rows. */
export function whereOf(where: Where): Fragment {
  if (Object.keys(where).length === 0)
    throw new JustonceError('OPTION_INVALID', { message: 'A condition without a column would match every row.' })
  return joined(
    Object.entries(where).map(([name, value]) => {
      const column = new Name([name])
      if (value instanceof Comparison) return value.to(column)
      return value === null ? sql`${column} IS NULL` : equals(column, value)
    }),
    ' AND ',
  )
}

export function assignments(changes: Changes): Fragment {
  if (Object.keys(changes).length === 0)
    throw new JustonceError('OPTION_INVALID', { message: 'There is no column to change.' })
  return joined(
    Object.entries(changes).map(([name, value]) => {
      const column = new Name([name])
      return value instanceof Change ? sql`${column} = ${value.of(column)}` : sql`${column} = ${value}`
    }),
    ', ',
  )
}

export function columnList(names: readonly string[]): Fragment {
  return joined(
    names.map((name) => sql`${new Name([name])}`),
    ', ',
  )
}

export function valueList(values: readonly unknown[]): Fragment {
  return joined(
    values.map((value) => sql`${value}`),
    ', ',
  )
}

/** The part of a row that identifies it. */
export function keyOf(row: Readonly<Record<string, unknown>>, unique: readonly string[]): Where {
  if (unique.length === 0)
    throw new JustonceError('OPTION_INVALID', { message: 'unique needs the columns of a unique index.' })
  for (const name of unique) {
    // NULLs are all different to a unique index, so such a row could be inserted again and again.
    if (row[name] !== undefined && row[name] !== null) continue
    throw new JustonceError('OPTION_INVALID', { message: `The row has no value for the unique column ${name}.` })
  }
  return Object.fromEntries(unique.map((name) => [name, row[name]]))
}
