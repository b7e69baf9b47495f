import { isInexactNumber } from '../../encoding/exact-json.ts'

export type Cell = null | boolean | number | string

export type Row = Readonly<Record<string, Cell>>

/** Rows by table. Other parts of an effect (published messages, the result of `observe`) are represented as tables, too. */
export type Tables = ReadonlyMap<string, readonly Row[]>

export interface TableFact {
  readonly primaryKey: readonly string[]
  /** Columns whose values the database generates by counting. Skipped numbers are not a difference. */
  readonly counted: ReadonlySet<string>
  /** Columns that refer to such a column, and the table it is in. */
  readonly refersTo: ReadonlyMap<string, string>
}

export type TableFacts = ReadonlyMap<string, TableFact>

/** A value of a row in a form that can be compared, sorted and printed. */
export function asCell(value: unknown): Cell {
  if (value === null || value === undefined) return null
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string') return value
  if (typeof value === 'bigint') return String(value)
  if (isInexactNumber(value)) return JSON.stringify(value)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString('hex')}`
  return sortedJson(value)
}

export function asRow(value: unknown): Row {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date)
    return { value: asCell(value) }
  return Object.fromEntries(Object.entries(value).map(([name, cell]) => [name, asCell(cell)]))
}

/** The result of `observe`: an object becomes one table per member, anything else one table. */
export function asTables(observed: unknown, name = 'observed'): Tables {
  const isPlain = typeof observed === 'object' && observed !== null && !isList(observed) && !(observed instanceof Date)
  if (!isPlain) return new Map([[name, rowsOf(observed)]])
  const members = observed instanceof Map ? [...observed] : Object.entries(observed)
  return new Map(members.map(([member, value]) => [String(member), rowsOf(value)]))
}

function isList(value: unknown): value is Iterable<unknown> {
  return Array.isArray(value) || value instanceof Set
}

function rowsOf(value: unknown): readonly Row[] {
  if (value instanceof Map) return [...value].map(([key, member]) => asRow({ key, value: member }))
  if (isList(value)) return [...value].map(asRow)
  return value === undefined ? [] : [asRow(value)]
}

/** JSON with sorted keys. Never throws, because users may observe anything. */
export function sortedJson(value: unknown): string {
  try {
    return JSON.stringify(value, (_, inner: unknown) => {
      if (typeof inner === 'bigint') return String(inner)
      if (inner instanceof Map) return [...inner]
      if (inner instanceof Set) return [...inner]
      if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
      return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
    }) as string
  } catch {
    return String(value)
  }
}
