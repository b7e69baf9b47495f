import { hash } from 'node:crypto'

/** Hashes the key, because a key may be any text of any length. Two keys with the same hash only wait for each other. */
export function laneOf(key: string): string {
  return hash('sha256', key, 'buffer').readBigInt64BE().toString()
}
