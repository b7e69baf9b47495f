import { hash } from 'node:crypto'

/** A key may be anything of any length. Two keys with one hash would merely wait for each other. */
export function laneOf(key: string): string {
  return hash('sha256', key, 'buffer').readBigInt64BE().toString()
}
