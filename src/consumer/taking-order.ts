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
  const groups = new Map<string, number>()
  const groupAt: number[] = []
  const sizes: number[] = []
  for (const delivery of queue) {
    const affinity = affinityOf(delivery)
    let group = affinity === undefined ? undefined : groups.get(affinity)
    if (group === undefined) {
      group = sizes.push(0) - 1
      if (affinity !== undefined) groups.set(affinity, group)
    }
    groupAt.push(group)
    sizes[group] = (sizes[group] as number) + 1
  }
  let end = 0
  const nextOf = sizes.map((size) => {
    end += size
    return end - size
  })
  const places = new Array<number>(queue.length)
  for (let place = 0; place < queue.length; place++) {
    const group = groupAt[place] as number
    const turn = nextOf[group] as number
    nextOf[group] = turn + 1
    places[turn] = place
  }
  return places
}
