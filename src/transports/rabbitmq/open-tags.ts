import type { AmqpMessage } from './client-shapes.ts'

/** One acknowledgement on the wire. */
export interface Receipt {
  readonly message: AmqpMessage
  /** It stands for all earlier ones of the channel too. */
  readonly allUpTo: boolean
}

/** What has come through one channel and is not settled, in the order of the tags. */
export class OpenTags {
  readonly #open = new Map<number, AmqpMessage>()

  get size(): number {
    return this.#open.size
  }

  add(message: AmqpMessage): void {
    this.#open.set(message.fields.deliveryTag, message)
  }

  /**
   * Takes these out and answers how the broker is to be told. One receipt stands for many only up to the lowest tag that
   * stays open: beyond it, it would acknowledge what is still being handled.
   */
  settle(messages: readonly AmqpMessage[]): readonly Receipt[] {
    const settled = messages.filter(({ fields }) => this.#open.delete(fields.deliveryTag))
    const lowest = this.#open.keys().next().value ?? Number.POSITIVE_INFINITY
    const receipts: Receipt[] = []
    let last: AmqpMessage | undefined
    let together = 0
    for (const message of settled) {
      const { deliveryTag } = message.fields
      if (deliveryTag > lowest) receipts.push({ message, allUpTo: false })
      else {
        together++
        if (last === undefined || deliveryTag > last.fields.deliveryTag) last = message
      }
    }
    if (last !== undefined) receipts.unshift({ message: last, allUpTo: together > 1 })
    return receipts
  }
}
