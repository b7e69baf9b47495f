import { hash } from 'node:crypto'
import type { Delivery, StoredParkedMessage } from '../../contracts/index.ts'
import { unrouted } from '../../encoding/unrouted.ts'

/**
 * Tells a message that is known by its position apart from others, also in the rows where it waits: others may have its id,
 * and in a topic that was made again even its offset.
 */
export function markOf({ message: { source }, place }: Delivery): string {
  return `@${hash('sha256', JSON.stringify([source, place?.partition, place?.to]), 'hex').slice(0, 32)}`
}

/** The mark in the key of a parked row; undefined: it was parked under its id, which is this. */
export function markIn({ handler, key }: StoredParkedMessage, id: string): string | undefined {
  const mark = /@[0-9a-f]{32}$/.exec(key)?.[0]
  // What reached no handler has no key that could end like this otherwise.
  return mark !== undefined && (handler === unrouted || key === id + mark) ? mark : undefined
}
