import type { Delivery, IncomingMessage } from '../../contracts/index.ts'

/** Remembers what was acknowledged, and delivers everything else again. */
export class Broker {
  readonly #settled = new Set<IncomingMessage>()

  acknowledge(deliveries: readonly Delivery[]): void {
    for (const { message } of deliveries) this.#settled.add(message)
  }

  unsettled(messages: readonly IncomingMessage[]): readonly IncomingMessage[] {
    return messages.filter((message) => !this.#settled.has(message))
  }

  /** As if they had never been acknowledged. Real brokers do that, too. */
  forget(messages: readonly IncomingMessage[]): void {
    for (const message of messages) this.#settled.delete(message)
  }
}
