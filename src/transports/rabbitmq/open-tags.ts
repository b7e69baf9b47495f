import type { AmqpMessage } from './client-shapes.ts'

/** What the broker is told, on the wire. */
export interface Answer {
  readonly message: AmqpMessage
  /** It stands for all earlier ones of the channel too. */
  readonly allUpTo: boolean
}

/** What has come through one channel and of which the broker has not been told yet, in the order of the tags. */
export class OpenTags {
  readonly #open = new Map<number, AmqpMessage>()
  /** Done, but something before them is not. */
  readonly #untold = new Map<number, AmqpMessage>()

  get open(): number {
    return this.#open.size
  }

  count(isCounted: (message: AmqpMessage) => boolean): number {
    let count = 0
    for (const message of this.#open.values()) if (isCounted(message)) count++
    return count
  }

  get untold(): number {
    return this.#untold.size
  }

  add(message: AmqpMessage): void {
    this.#open.set(message.fields.deliveryTag, message)
  }

  /**
   * These are done. Answers how the broker is to be told of all that have nothing unsettled before them: one answer
   * stands for them, where one for each would cost the broker more than everything else it does for a message.
   */
  done(messages: readonly AmqpMessage[]): readonly Answer[] {
    for (const message of messages) {
      const { deliveryTag } = message.fields
      if (this.#open.delete(deliveryTag)) this.#untold.set(deliveryTag, message)
    }
    const lowest = this.#open.keys().next().value ?? Number.POSITIVE_INFINITY
    let last: AmqpMessage | undefined
    let together = 0
    for (const [deliveryTag, message] of this.#untold) {
      if (deliveryTag > lowest) continue
      this.#untold.delete(deliveryTag)
      together++
      if (last === undefined || deliveryTag > last.fields.deliveryTag) last = message
    }
    return last === undefined ? [] : [{ message: last, allUpTo: together > 1 }]
  }

  /** One for each of the others: what is before them takes too long. */
  rest(): readonly Answer[] {
    const answers = [...this.#untold.values()].map((message) => ({ message, allUpTo: false }))
    this.#untold.clear()
    return answers
  }

  /** These go back. One by one: the broker has not been told of everything before them. */
  giveBack(messages: readonly AmqpMessage[]): readonly Answer[] {
    return messages
      .filter(({ fields }) => this.#open.delete(fields.deliveryTag))
      .map((message) => ({ message, allUpTo: false }))
  }
}
