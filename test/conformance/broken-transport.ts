import type { Delivery, OutgoingMessage, Transport } from '../../src/contracts/index.ts'
import type { MemoryTransport } from '../../src/transports/memory/index.ts'

/** Makes a transport wrong in one way. */
export type Break = (connection: Transport, shared: MemoryTransport) => Transport

export interface BrokenTransport {
  readonly name: string
  /** The case that must notice it. */
  readonly caught: string
  readonly break: Break
  /** More for those that must not be caught for being slow. Default 100. */
  readonly patienceMs?: number
}

/** Settles whatever delivery of the message came last. */
export const settlesByMessage: Break = (connection) => {
  const seen = new Map<string | undefined, Delivery>()
  return {
    ...connection,
    async *deliveries(options) {
      for await (const deliveries of connection.deliveries(options)) {
        for (const each of deliveries) seen.set(each.message.id, each)
        yield deliveries
      }
    },
    settle: (deliveries, settlement) =>
      connection.settle(
        deliveries.flatMap((each) => seen.get(each.message.id) ?? []),
        settlement,
      ),
  }
}

/** To send what was delivered as if it were new. */
export function toOutgoing({ message }: Delivery): OutgoingMessage {
  const { id = '', type = '', sentAt = new Date(0) } = message
  return { ...message, id, type, sentAt }
}
