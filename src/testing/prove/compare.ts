import { type Cell, type Row, sortedJson, type TableFacts, type Tables } from './tables.ts'

export interface Difference {
  readonly table: string
  /** Absent when the row should not be there at all. */
  readonly expected?: Row
  /** Absent when the row is missing. */
  readonly found?: Row
  /** Of a row that is there on both sides. */
  readonly columns: readonly string[]
}

export interface Comparing {
  readonly facts: TableFacts
  /** `table.column` of what says nothing about the effect. */
  readonly ignored: ReadonlySet<string>
  /** Before the first message: rows from then keep their numbers. */
  readonly initial: Tables
}

/** What is different in `found`, row by row; empty when the effects are equal. */
export function differencesBetween(expected: Tables, found: Tables, comparing: Comparing): readonly Difference[] {
  const names = [...new Set([...expected.keys(), ...found.keys()])]
  return names.flatMap((table) => {
    const exact = unequal(rowsFor(expected, table, comparing), rowsFor(found, table, comparing))
    if (exact.missing.length + exact.extra.length === 0) return []
    // A number that the database counts up may be another one after an attempt that was undone.
    const renumbered = unequal(
      rowsFor(expected, table, comparing).map((row) => withoutNewNumbers(row, table, comparing)),
      rowsFor(found, table, comparing).map((row) => withoutNewNumbers(row, table, comparing)),
    )
    return paired(table, renumbered, comparing.facts.get(table)?.primaryKey ?? [])
  })
}

function rowsFor(tables: Tables, table: string, { ignored }: Comparing): readonly Row[] {
  const rows = tables.get(table) ?? []
  if (ignored.size === 0) return rows
  return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !ignored.has(`${table}.${name}`))))
}

interface Unequal {
  readonly missing: readonly Row[]
  readonly extra: readonly Row[]
}

function unequal(expected: readonly Row[], found: readonly Row[]): Unequal {
  const open = new Map<string, Row[]>()
  for (const row of expected) {
    const text = sortedJson(row)
    open.set(text, [...(open.get(text) ?? []), row])
  }
  const extra: Row[] = []
  for (const row of found) if (open.get(sortedJson(row))?.pop() === undefined) extra.push(row)
  return { missing: [...open.values()].flat(), extra }
}

const newNumber = '(new)'

function withoutNewNumbers(row: Row, table: string, { facts, initial }: Comparing): Row {
  const fact = facts.get(table)
  if (fact === undefined) return row
  const cells = Object.entries(row).map(([name, cell]): [string, Cell] => {
    const counts = fact.counted.has(name) ? table : fact.refersTo.get(name)
    const column = counts === undefined ? undefined : [...(facts.get(counts)?.counted ?? [])][0]
    if (counts === undefined || column === undefined || cell === null) return [name, cell]
    return [name, (initial.get(counts) ?? []).some((old) => old[column] === cell) ? cell : newNumber]
  })
  return Object.fromEntries(cells)
}

/** Rows with the same key, or that are alike in most columns, are one row that has changed. */
function paired(table: string, { missing, extra }: Unequal, primaryKey: readonly string[]): Difference[] {
  const left = [...extra]
  const differences: Difference[] = missing.map((expected) => {
    const at = left.findIndex((found) => isSameRow(expected, found, primaryKey))
    const [found] = at < 0 ? [] : left.splice(at, 1)
    return { table, expected, ...(found && { found }), columns: found === undefined ? [] : changed(expected, found) }
  })
  return [...differences, ...left.map((found) => ({ table, found, columns: [] }))]
}

function isSameRow(a: Row, b: Row, primaryKey: readonly string[]): boolean {
  const names = Object.keys(a)
  const keys = primaryKey.filter((name) => a[name] !== newNumber)
  if (keys.length > 0) return keys.every((name) => a[name] === b[name])
  return changed(a, b).length * 2 <= names.length || names.length === 1
}

function changed(a: Row, b: Row): readonly string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((name) => a[name] !== b[name])
}

/** `table.column` of every column that differs; `table` alone where a whole row does. */
export function columnsOf(differences: readonly Difference[]): readonly string[] {
  const names = differences.flatMap(({ table, columns }) =>
    columns.length === 0 ? [table] : columns.map((column) => `${table}.${column}`),
  )
  return [...new Set(names)]
}

/** `table.column` of what differs between two runs that should be alike; rows are matched in the order they come. */
export function unsteadyColumns(one: Tables, other: Tables, comparing: Comparing): readonly string[] {
  const differences = differencesBetween(one, other, comparing)
  const columns = differences.flatMap(({ table, columns }) => columns.map((column) => `${table}.${column}`))
  for (const [table, whole] of Map.groupBy(differences, ({ table }) => table)) {
    const missing = whole.filter(({ found }) => found === undefined)
    const extra = whole.filter(({ expected }) => expected === undefined)
    if (missing.length !== extra.length) continue
    missing.forEach(({ expected }, index) => {
      const { found } = extra[index] as { found: Row }
      columns.push(...changed(expected as Row, found).map((column) => `${table}.${column}`))
    })
  }
  return [...new Set(columns)]
}
