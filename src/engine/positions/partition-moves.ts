import type { Delivery, Position, PositionMove } from '../../contracts/index.ts'

/** The row of deliveries of each partition: where the first begins, and where the last ends. */
export function movesPast(deliveries: readonly Delivery[]): PositionMove[] {
  const moves = new Map<string, PositionMove>()
  for (const { message, place } of deliveries) {
    if (place === undefined) continue
    const { partition, from, to } = place
    const id = nameOf(message.source, partition)
    const expected = moves.has(id) ? moves.get(id)?.expected : from
    moves.set(id, { source: message.source, partition, expected, to })
  }
  // Sorted, so that two processes never wait for each other's partitions in a circle.
  return [...moves].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, move]) => move)
}

/** It begins where the other ends, so that nothing lies between them. */
export function follows(delivery: Delivery, before: Delivery): boolean {
  return isSame(delivery.place?.from, before.place?.to)
}

/** Those that follow on what was lost of their partition, one after the other: they are lost with it. */
export function lostWith(lost: readonly Delivery[], deliveries: readonly Delivery[]): readonly Delivery[] {
  const last = new Map(lost.map((delivery) => [partitionId(delivery), delivery]))
  return deliveries.filter((delivery) => {
    const before = last.get(partitionId(delivery))
    if (before === undefined || !follows(delivery, before)) return false
    last.set(partitionId(delivery), delivery)
    return true
  })
}

export function isSame(a: Position | undefined, b: Position | undefined): boolean {
  return a?.next === b?.next && a?.incarnation === b?.incarnation
}

/** Names the partition of a delivery; those without a place have none. */
export function partitionId({ message, place }: Delivery): string {
  return nameOf(message.source, place?.partition ?? '')
}

export function nameOf(source: string, partition: string): string {
  return JSON.stringify([source, partition])
}
