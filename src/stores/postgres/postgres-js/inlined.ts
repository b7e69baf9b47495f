import type { Cell } from '../cells.ts'
import type { Statement } from '../statement.ts'

const parameter = /\$(\d+)/g

/**
 * The statement with its values in the text. postgres.js asks the server about every statement with parameters that it
 * has not prepared, which takes a round trip; and two prepared ones that have vanished wait for each other for ever.
 * Undefined: a value holds what a text cannot; the server refuses such a parameter with a proper error.
 */
export function inlined({ text }: Statement, values: readonly Cell[]): string | undefined {
  if (values.some((value) => value?.includes('\0'))) return undefined
  return text.replace(parameter, (_, place) => literal(values[Number(place) - 1] ?? null))
}

/** Written with escapes, which read the same whatever standard_conforming_strings says. */
function literal(value: Cell): string {
  return value === null ? 'NULL' : ` E'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}
