import { hash } from 'node:crypto'

/** Keys come back, and a hash costs more than everything else that is done to store a message. */
const known = new Map<string, string>()
const mostKnown = 2_000
const longestKnown = 100

/** Hashes the key, because a key may be any text of any length. Two keys with the same hash only wait for each other. */
export function laneOf(key: string): string {
  const found = known.get(key)
  if (found !== undefined) return found
  const lane = hash('sha256', key, 'buffer').readBigInt64BE().toString()
  if (key.length > longestKnown) return lane
  if (known.size >= mostKnown) known.clear()
  known.set(key, lane)
  return lane
}
