import type { Queued } from './sim-broker.ts'

/** The first that may be delivered: of its key nothing earlier is ready or out of reach. `ready` is in order. */
export function firstInOrder(ready: readonly Queued[], outOfReach: readonly Queued[]): Queued | undefined {
  const closed = new Set<string>()
  for (const queued of ready) {
    const { key } = queued.message
    if (key === undefined) return queued
    if (closed.has(key)) continue
    const isFirst = outOfReach.every(({ message, sequence }) => message.key !== key || sequence > queued.sequence)
    if (isFirst) return queued
    closed.add(key)
  }
  return undefined
}
