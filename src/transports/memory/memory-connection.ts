import type { Clock, Delivery, Transport, TransportCapabilities } from '../../contracts/index.ts'
import { laneOf } from './keys-in-use.ts'
import type { Entry, MemoryBroker } from './memory-broker.ts'
import { toIncoming } from './message-to-send.ts'

export interface MemoryConnectionOptions {
  readonly broker: MemoryBroker
  readonly name: string
  readonly clock: Clock
  readonly order: TransportCapabilities['order']
  readonly visibilityMs: number | undefined
}

interface Reader {
  unsettled: number
}

interface Holding {
  readonly entry: Entry
  readonly reader: Reader
}

/** One process's view of the messages. When it closes, the messages it holds go back. */
export function memoryConnection({ broker, name, clock, order, visibilityMs }: MemoryConnectionOptions): Transport {
  const held = new Set<Holding>()
  // Replaced by close(): readers of the earlier one end, and deliveries it held can no longer be settled.
  let life = new AbortController()

  /** Forgets those that are still held and returns their entries. */
  const letGo = (holdings: readonly Holding[]): Entry[] => {
    const ours = holdings.filter((holding) => held.delete(holding))
    for (const { reader } of ours) reader.unsettled--
    return ours.map(({ entry }) => entry)
  }

  const hold = (entries: readonly Entry[], reader: Reader): readonly Delivery[] => {
    const deliveries = entries.map((entry) => {
      const lane = order === 'lane' ? laneOf(entry.message) : undefined
      const { signal: ended } = life
      const receipt: Holding = { entry, reader }
      held.add(receipt)
      return { message: entry.message, lane, count: entry.count, redelivered: entry.count > 1, ended, receipt }
    })
    reader.unsettled += deliveries.length
    if (visibilityMs !== undefined) clock.timer(visibilityMs, () => broker.giveBack(letGo(deliveries.map(receiptOf))))
    return deliveries
  }

  return {
    name,
    destination: name,
    capabilities: { order, keepsBehind: order === 'key', deliveryCount: 'count' },
    async *deliveries({ signal, maxInFlight, appetite, connected }) {
      connected?.()
      const reader: Reader = { unsettled: 0 }
      const mine = life
      const stopHearing = appetite?.onGrown(broker.stir)
      try {
        while (!signal.aborted && life === mine) {
          const most = Math.min(maxInFlight, appetite?.now() ?? maxInFlight)
          const entries = broker.take(mine, most - reader.unsettled)
          if (entries.length === 0) await broker.changed(signal)
          else yield hold(entries, reader)
        }
      } finally {
        stopHearing?.()
      }
    },
    async settle(deliveries, settlement) {
      const entries = letGo(deliveries.map(receiptOf))
      if (settlement.kind === 'done') broker.remove(entries)
      else broker.giveBack(entries)
    },
    async publish(messages) {
      broker.add(messages.map((message) => toIncoming(message, name)))
      return messages.map(() => ({ kind: 'sent' as const }))
    },
    async close() {
      life.abort()
      life = new AbortController()
      broker.giveBack(letGo([...held]))
    },
  }
}

function receiptOf({ receipt }: Delivery): Holding {
  return receipt as Holding
}
