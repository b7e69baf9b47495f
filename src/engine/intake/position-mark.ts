import { hash } from 'node:crypto'
import type { Delivery, StoredParkedMessage } from '../../contracts/index.ts'
import { unrouted } from '../../encoding/unrouted.ts'

/**
 * Distinguishes a message that is known by its position from others, also in the parked rows: others may have its id, and
 * in a topic that was recreated even its offset.
 */
export function markOf({ message: { source }, place }: Delivery): string {
  return `@${hash('sha256', JSON.stringify([source, place?.partition, place?.to]), 'hex').slice(0, 32)}`
}

/** The mark in the key of a parked row; `undefined` if the message was parked under its id, which is `id`. */
export function markIn({ handler, key }: StoredParkedMessage, id: string): string | undefined {
  const mark = /@[0-9a-f]{32}$/.exec(key)?.[0]
  // A message that reached no handler has no key that could otherwise end like this.
  return mark !== undefined && (handler === unrouted || key === id + mark) ? mark : undefined
}
