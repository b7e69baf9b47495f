import type { Dialect, Place } from '../sql/dialect.ts'
import { rowReaders } from '../sql/rows.ts'
import type { SqliteValue } from './sqlite-database.ts'
import { bytes, now } from './statements.ts'

const same = (column: string): string => column

export const dialect: Dialect = {
  now,
  find: 'instr',
  name: same,
  inMs: same,
  inBytes: same,
  isOneOf(keys, place) {
    const pairs = JSON.stringify(keys.map(({ handler, key }) => [handler, key]))
    return `(handler, key) IN (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(${place(pairs)}))`
  },
}

/** Collects the values of a statement. */
export function placing(): { readonly values: SqliteValue[]; readonly place: Place } {
  const values: SqliteValue[] = []
  return {
    values,
    place(value) {
      values.push(value instanceof Date ? value.getTime() : value)
      return '?'
    },
  }
}

export const { parkedIn, listedIn } = rowReaders<SqliteValue>({
  textIn: String,
  bytesIn: (cell) => bytes(cell as Uint8Array),
})
