import type { Transport } from '../src/contracts/index.ts'
import type { Copy } from './plan.ts'

/** Sends the copies of a plan, in its order. */
export class Producer {
  readonly #transport: Transport
  readonly #copies: readonly Copy[]
  /** Copies that the broker is known to have taken. */
  sent = 0

  constructor(transport: Transport, copies: readonly Copy[]) {
    this.#transport = transport
    this.#copies = copies
  }

  get isDone(): boolean {
    return this.sent === this.#copies.length
  }

  async sendUpTo(total: number): Promise<void> {
    while (this.sent < Math.min(total, this.#copies.length)) {
      const next = this.#copies.slice(this.sent, Math.min(total, this.sent + 200))
      for (const result of await this.#transport.publish(next.map(toMessage))) {
        if (result.kind === 'refused') throw result.error
      }
      this.sent += next.length
    }
  }
}

export function toMessage({ payment, number }: Copy) {
  return {
    // Every copy has the same id: that is what makes it a copy. Its number is for the tally, and nobody decides by it.
    id: payment.id,
    type: 'payment.received',
    key: payment.account,
    body: new TextEncoder().encode(JSON.stringify(payment)),
    headers: { copy: String(number) },
    sentAt: new Date(),
  }
}
