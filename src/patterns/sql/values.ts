import { JustonceError } from '../../errors/index.ts'
import type { Dialect } from './fragment.ts'

/** A value as the client of the dialect takes it. Numbers are never rounded: give large ones as bigint or as text. */
export function valueFor(dialect: Dialect, value: unknown): unknown {
  if (value === undefined)
    throw new JustonceError('OPTION_INVALID', { message: 'A value is undefined. Use null for a missing value.' })
  if (value === null || typeof value === 'string' || typeof value === 'bigint' || value instanceof Uint8Array)
    return value
  if (typeof value === 'number') return value
  if (typeof value === 'boolean') return dialect === 'sqlite' ? Number(value) : value
  if (value instanceof Date) return dialect === 'sqlite' ? value.toISOString() : value
  // Postgres has arrays. MySQL would write an object or an array into the statement as names and values.
  return dialect === 'postgres' && Array.isArray(value) ? value : JSON.stringify(value)
}
