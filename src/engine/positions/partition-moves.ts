import type { Delivery, Position, PositionMove } from '../../contracts/index.ts'

/** One move per partition: from where its first delivery begins to where its last one ends. */
export function movesPast(deliveries: readonly Delivery[]): PositionMove[] {
  const moves = new Map<string, PositionMove>()
  for (const { message, place } of deliveries) {
    if (place === undefined) continue
    const { partition, from, to } = place
    const id = nameOf(message.source, partition)
    const expected = moves.has(id) ? moves.get(id)?.expected : from
    moves.set(id, { source: message.source, partition, expected, to })
  }
  // Sorted, so that two processes cannot deadlock on each other's partitions.
  return [...moves].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, move]) => move)
}

/** Whether the delivery begins where the other ends, with nothing in between. */
export function follows(delivery: Delivery, before: Delivery): boolean {
  return isSame(delivery.place?.from, before.place?.to)
}

/** The deliveries that directly follow lost ones in their partition, one after the other. They are lost too. */
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

/** Names the partition of a delivery. Deliveries without a place share an empty partition name. */
export function partitionId({ message, place }: Delivery): string {
  return nameOf(message.source, place?.partition ?? '')
}

export function nameOf(source: string, partition: string): string {
  return JSON.stringify([source, partition])
}
