import type { Delivery, Transport } from '../src/contracts/index.ts'

const soonMs = 20

/** The same transport, which tells how many of its deliveries are not settled yet: not at each of them, but soon. */
export function tellingHeld(transport: Transport, tell: (held: number) => void): Transport {
  // Nothing is held by a worker that settles in its transaction, and the queue itself counts the rest.
  if (transport.inside !== undefined) return transport
  const held = new Set<Delivery>()
  let isDue = false
  const changed = (): void => {
    if (isDue) return
    isDue = true
    setTimeout(() => {
      isDue = false
      tell(held.size)
    }, soonMs).unref()
  }
  return {
    ...transport,
    async *deliveries(options) {
      for await (const deliveries of transport.deliveries(options)) {
        for (const delivery of deliveries) held.add(delivery)
        changed()
        yield deliveries
      }
    },
    async settle(deliveries, settlement) {
      try {
        await transport.settle(deliveries, settlement)
      } finally {
        for (const delivery of deliveries) held.delete(delivery)
        changed()
      }
    },
  }
}
