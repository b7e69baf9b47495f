import type { Delivery } from '../../src/contracts/index.ts'
import { type MemoryTransport, memoryTransport } from '../../src/transports/memory/index.ts'
import { type Break, type BrokenTransport, toOutgoing } from './broken-transport.ts'

/** What a connection held goes behind everything that waits. */
const sendsAnewAtTheEnd: Break = (connection) => {
  const held = new Set<Delivery>()
  return {
    ...connection,
    async *deliveries(options) {
      for await (const deliveries of connection.deliveries(options)) {
        for (const each of deliveries) held.add(each)
        yield deliveries
      }
    },
    async settle(deliveries, settlement) {
      for (const each of deliveries) held.delete(each)
      await connection.settle(deliveries, settlement)
    },
    async close() {
      const lost = [...held]
      held.clear()
      await connection.publish(lost.map(toOutgoing))
      await connection.settle(lost, { kind: 'done' })
      await connection.close()
    },
  }
}

const looseTwins = new WeakMap<MemoryTransport, MemoryTransport>()

/** A transport without order, the same for all connections of one test. */
function looseTwinOf(shared: MemoryTransport): MemoryTransport {
  const twin = looseTwins.get(shared) ?? memoryTransport({ order: 'none' })
  looseTwins.set(shared, twin)
  return twin
}

/** Wrong with the order of keys when there are several consumers. */
export const brokenOrders: readonly BrokenTransport[] = [
  {
    name: 'spreads a key over consumers',
    caught: 'order: two consumers never hold the same key at a time, and every key is handled in order',
    break: (_, shared) => ({ ...looseTwinOf(shared).connect(), capabilities: shared.capabilities }),
    patienceMs: 1_000,
  },
  {
    name: 'gives a key to anyone who asks while another holds it',
    caught: 'order: while one consumer holds a key, no other gets later messages of it',
    break: (_, shared) => ({ ...looseTwinOf(shared).connect(), capabilities: shared.capabilities }),
    patienceMs: 1_000,
  },
  {
    name: 'puts what a closed connection held at the end',
    caught: 'order: what a closed connection held is delivered to others before the later messages of its key',
    break: sendsAnewAtTheEnd,
    patienceMs: 1_000,
  },
  {
    name: 'puts what a dead consumer held at the end',
    caught: 'order: what a dead consumer held is delivered to others before the later messages of its key',
    break: sendsAnewAtTheEnd,
    patienceMs: 1_000,
  },
]
