import type { Dialect, Place } from '../sql/dialect.ts'
import { keyArrays } from './inbox/record-rows.ts'
import { type Cell, hexOf } from './values-as-text.ts'

export const inMs = (time: string): string => `floor(extract(epoch FROM ${time}) * 1000)`

export const dialect: Dialect = {
  now: 'statement_timestamp()',
  find: 'strpos',
  name: (column) => column,
  inMs,
  inBytes: (column) => `encode(${column}, 'hex')`,
  isOneOf(keys, place) {
    const [handlers, texts] = keyArrays(keys).map(place)
    return `(handler, key) IN (SELECT * FROM unnest(${handlers}::text[], ${texts}::text[]))`
  },
}

/** Collects the values of a statement. */
export function placing(): { readonly values: Cell[]; readonly place: Place } {
  const values: Cell[] = []
  const next = (value: string) => `$${values.push(value)}::text`
  return {
    values,
    place(value) {
      if (typeof value === 'string') return next(value)
      if (typeof value === 'number') return `${next(String(Math.ceil(value)))}::bigint`
      if (value instanceof Date) return `to_timestamp(${next(String(value.getTime()))}::float8 / 1000)`
      return `${next(`\\x${hexOf(value)}`)}::bytea`
    },
  }
}
