import type { Dialect, Place } from '../sql/dialect.ts'
import { bytes, integer, nowMs } from './literals-and-cells.ts'
import { isOneOf } from './statement-parts.ts'

const same = (column: string): string => column

export const dialect: Dialect = {
  now: nowMs,
  find: 'instr',
  name: (column) => `\`${column}\``,
  inMs: same,
  inBytes: same,
  isOneOf,
}

/** Our values are part of the text. */
export const place: Place = (value) => {
  if (value instanceof Date) return integer(value.getTime())
  return typeof value === 'number' ? integer(value) : bytes(value)
}
