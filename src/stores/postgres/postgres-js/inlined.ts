import type { Statement } from '../statement.ts'
import type { Cell } from '../values-as-text.ts'

const parameter = /\$(\d+)/g

/**
 * The statement with its values in the text. For every statement with parameters that it has not prepared, postgres.js needs
 * an extra round trip, and two prepared statements that have vanished wait for each other forever. `undefined` if a value
 * contains what a text cannot; the server refuses such a parameter with a proper error.
 */
export function inlined({ text }: Statement, values: readonly Cell[]): string | undefined {
  if (values.some((value) => value?.includes('\0'))) return undefined
  return text.replace(parameter, (_, place) => literal(values[Number(place) - 1] ?? null))
}

/** Uses an escape string, which reads the same with any setting of standard_conforming_strings. */
function literal(value: Cell): string {
  return value === null ? 'NULL' : ` E'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}
