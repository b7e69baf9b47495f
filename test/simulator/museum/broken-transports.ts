import type { Delivery, Transport } from '../../../src/contracts/index.ts'
import { realApp } from '../real-app.ts'
import type { Program } from '../world.ts'
import type { Exhibit } from './exhibit.ts'

/** The real engine on a transport that breaks one sentence of its contract. */
export const brokenTransports: readonly Exhibit[] = [
  {
    name: 'every-message-is-its-own-chain',
    flaw: 'Messages of one key do not belong together: two workers have them at once, and the second may be faster.',
    caughtAs: 'DISORDER',
    isCrowded: true,
    program: onTransport((transport) => {
      let lanes = 0
      return through(transport, (delivery) => ({ ...delivery, lane: `lane ${lanes++}` }))
    }),
  },
  {
    name: 'less-room-than-promised',
    flaw: 'Fewer messages are delivered than the consumer counts on: what a breaker holds back uses up all of them.',
    caughtAs: 'STARVED',
    isCrowded: true,
    program: onTransport((transport) => ({
      ...transport,
      deliveries: (options) => transport.deliveries({ ...options, maxInFlight: 2 }),
    })),
  },
]

function onTransport(breakIt: (transport: Transport) => Transport): Program {
  return (environment) => realApp({ ...environment, transport: breakIt(environment.transport) })
}

/** Changes each delivery, and settles what it was before. */
function through(transport: Transport, change: (delivery: Delivery) => Delivery): Transport {
  const originals = new WeakMap<Delivery, Delivery>()
  return {
    ...transport,
    async *deliveries(options) {
      for await (const deliveries of transport.deliveries(options)) {
        yield deliveries.map((delivery) => {
          const changed = change(delivery)
          originals.set(changed, delivery)
          return changed
        })
      }
    },
    settle: (deliveries, settlement) =>
      transport.settle(
        deliveries.map((delivery) => originals.get(delivery) ?? delivery),
        settlement,
      ),
  }
}
