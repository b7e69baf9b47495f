import { hash } from 'node:crypto'
import { format } from './uuid-v7.ts'

/**
 * The same id for the same cause, every time: for what a re-run would otherwise send under a second id. A UUIDv8 whose
 * first 48 bits are the cause's time where it has one, so that it sorts and ages like a UUIDv7.
 */
export function derivedId(cause: readonly string[], at?: Date): string {
  // Lengths are part of what is hashed: ['ab','c'] and ['a','bc'] are different causes.
  const digest = hash('sha256', cause.map((part) => `${part.length}:${part}`).join(), 'buffer')
  const version = 0x8000 | ((digest[8] as number) << 4) | ((digest[9] as number) >> 4)
  const ms = at?.getTime() ?? Number.NaN
  // A time that does not fit into 48 bits, or is none, would make an id that is none.
  const fits = ms >= 0 && ms < 2 ** 48
  return format(fits ? ms : Number.parseInt(digest.toString('hex', 10, 16), 16), version, digest.subarray(0, 8))
}
