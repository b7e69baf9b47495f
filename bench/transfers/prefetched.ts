import type { Delivery, IncomingMessage, Transport } from '../../src/contracts/index.ts'

/** Messages as a broker's client with prefetch hands them over; everything a broker does itself is left out. */
export interface Prefetched extends Transport {
  /** From now on these are delivered. Resolves when all of them are settled as done. */
  deliverAll(messages: readonly IncomingMessage[]): Promise<void>
}

export function prefetched({ oneByOne = false } = {}): Prefetched {
  let waiting: readonly Delivery[] = []
  let next = 0
  const returned: Delivery[] = []
  let unsettled = 0
  let wakeReader = (): void => {}
  let allDone = (): void => {}

  const take = (room: number): readonly Delivery[] => {
    const taken = returned.length > 0 ? returned.splice(0, room) : waiting.slice(next, next + room)
    if (taken.length > 0 && taken[0] === waiting[next]) next += taken.length
    unsettled += taken.length
    return taken
  }

  return {
    name: 'prefetched',
    destination: 'nowhere',
    capabilities: { order: 'none', deliveryCount: 'none' },
    deliverAll(messages) {
      waiting = messages.map((message) => ({ message }))
      next = 0
      const done = new Promise<void>((resolve) => {
        allDone = resolve
      })
      wakeReader()
      return done
    },
    async *deliveries({ signal, maxInFlight }) {
      const most = oneByOne ? 1 : maxInFlight
      signal.addEventListener('abort', () => wakeReader())
      while (!signal.aborted) {
        const deliveries = take(most - unsettled)
        if (deliveries.length > 0) yield deliveries
        else
          await new Promise<void>((resolve) => {
            wakeReader = resolve
          })
      }
    },
    async settle(deliveries, settlement) {
      unsettled -= deliveries.length
      if (settlement.kind === 'release') returned.push(...deliveries)
      if (unsettled + returned.length === 0 && next === waiting.length) allDone()
      else wakeReader()
    },
    async publish() {
      throw new Error('Nothing is published here.')
    },
    async close() {},
  }
}
