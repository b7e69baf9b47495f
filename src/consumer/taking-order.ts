import type { Delivery } from '../contracts/index.ts'

/** What must stay together and in order: a lane of the transport, or else the message's key. */
export function affinityOf(delivery: Delivery): string | undefined {
  return delivery.lane ?? delivery.message.key
}

/**
 * The places of a queue in the order in which a batch takes them: the oldest delivery with all that share its key, then
 * the next oldest that is left with its own, and so on. A batch so holds the rows of few keys, and batches of other
 * processes get in each other's way less often. The oldest is always taken, so nothing waits for ever.
 */
export function takingOrder(queue: readonly Delivery[]): number[] {
  const places: number[] = []
  const together = new Map<string, number[]>()
  for (let place = 0; place < queue.length; place++) {
    const affinity = affinityOf(queue[place] as Delivery)
    if (affinity === undefined) continue
    const others = together.get(affinity)
    if (others === undefined) together.set(affinity, [place])
    else others.push(place)
  }
  for (let place = 0; place < queue.length; place++) {
    const affinity = affinityOf(queue[place] as Delivery)
    const group = affinity === undefined ? undefined : together.get(affinity)
    if (group === undefined) places.push(place)
    else if (group[0] === place) places.push(...group)
  }
  return places
}
