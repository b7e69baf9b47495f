import { hash } from 'node:crypto'
import { format } from './uuid-v7.ts'

/**
 * Always the same id for the same cause: for messages that a re-run would otherwise send under a second id. A UUIDv8
 * whose first 48 bits are the cause's time if it has one, so that it sorts and ages like a UUIDv7.
 */
export function derivedId(cause: readonly string[], at?: Date): string {
  // Lengths are part of the hash: ['ab','c'] and ['a','bc'] are different causes.
  const digest = hash('sha256', cause.map((part) => `${part.length}:${part}`).join(), 'buffer')
  const version = 0x8000 | ((digest[8] as number) << 4) | ((digest[9] as number) >> 4)
  const ms = at?.getTime() ?? Number.NaN
  // A time that is invalid or does not fit into 48 bits would make an invalid id.
  const fits = ms >= 0 && ms < 2 ** 48
  return format(fits ? ms : Number.parseInt(digest.toString('hex', 10, 16), 16), version, digest.subarray(0, 8))
}
