import type { Delivery, IncomingMessage, Transport } from '../../src/contracts/index.ts'

/** Messages as a broker's client with prefetch hands them over; everything a broker does itself is left out. */
export interface Prefetched extends Transport {
  /** From now on these are delivered, too. Resolves when everything is settled as done. */
  deliverAll(messages: readonly IncomingMessage[]): Promise<void>
}

export interface PrefetchedOptions {
  /** So many are handed over before one of them is settled, if the consumer does not want fewer. */
  readonly inFlight?: number
}

export function prefetched({ inFlight = Number.POSITIVE_INFINITY }: PrefetchedOptions = {}): Prefetched {
  const waiting: Delivery[] = []
  let next = 0
  const returned: Delivery[] = []
  let unsettled = 0
  let wakeReader = (): void => {}
  const whenAllDone: (() => void)[] = []

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
      for (const message of messages) waiting.push({ message })
      wakeReader()
      return new Promise<void>((resolve) => whenAllDone.push(resolve))
    },
    async *deliveries({ signal, maxInFlight }) {
      const most = Math.min(inFlight, maxInFlight)
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
      if (unsettled + returned.length > 0 || next < waiting.length) return wakeReader()
      waiting.length = 0
      next = 0
      for (const done of whenAllDone.splice(0)) done()
    },
    async publish() {
      throw new Error('Nothing is published here.')
    },
    async close() {},
  }
}
