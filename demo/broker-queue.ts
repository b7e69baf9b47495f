import { queueTransport } from '../src/transports/queue/index.ts'
import type { Bank } from './bank.ts'
import type { Broker } from './broker.ts'

const queue = 'payments'

/** Longer than a living worker is ever silent; the messages of a dead one come back after this time. */
const visibilityMs = 3_000

/** The database is the queue as well: no server at all. */
export function openQueueBroker({ store }: Bank): Broker {
  const transport = queueTransport({ store, queue, visibilityMs })
  return {
    transport,
    async create() {},
    async countUnsettled() {
      const { ready, hidden } = await store.queue.count(queue)
      return ready + hidden
    },
    close: () => transport.close(),
  }
}
