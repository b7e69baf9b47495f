import { JustonceError } from '../../errors/index.ts'
import type { Dialect } from './fragment.ts'

/** A value as the client of the dialect takes it. Numbers are never rounded: give large ones as bigint or as text. */
export function valueFor(dialect: Dialect, value: unknown): unknown {
  if (value === undefined)
    throw new JustonceError('OPTION_INVALID', { message: 'A value is undefined. Use null for a missing value.' })
  if (value === null || typeof value === 'string') return value
  // postgres.js would call it a bigint, and such a one cannot be compared with a text.
  if (typeof value === 'bigint') return dialect === 'postgres' ? String(value) : value
  // Clients know Buffers; mysql2 would write another Uint8Array into the statement as names and values.
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  if (typeof value === 'number') {
    // SQLite would store NULL, MySQL would take it for a column, and to Postgres NaN is larger than everything.
    if (Number.isFinite(value)) return value
    throw new JustonceError('OPTION_INVALID', { message: `A value is ${value}.` })
  }
  if (typeof value === 'boolean') return dialect === 'sqlite' ? Number(value) : value
  if (value instanceof Date && Number.isNaN(value.getTime()))
    throw new JustonceError('OPTION_INVALID', { message: 'A value is an invalid date.' })
  if (value instanceof Date) return dialect === 'sqlite' ? value.toISOString() : value
  // Postgres has arrays. MySQL would write an object or an array into the statement as names and values.
  if (dialect !== 'postgres') return JSON.stringify(value)
  return Array.isArray(value) || hasOwnText(value) ? value : new Json(value)
}

/** As the intervals that `pg` reads have it. */
function hasOwnText(value: unknown): boolean {
  return typeof (value as { readonly toPostgres?: unknown }).toPostgres === 'function'
}

/** `pg` sends a text as it is, postgres.js encodes what goes into a column of JSON: each asks this in its own way. */
class Json {
  readonly #value: unknown

  constructor(value: unknown) {
    this.#value = value
  }

  toJSON(): unknown {
    return this.#value
  }

  toPostgres(): string {
    return this.toString()
  }

  toString(): string {
    return JSON.stringify(this.#value)
  }
}
