import type { AmqpMessage } from './client-shapes.ts'

/** An acknowledgement or a return, as it is sent to the broker. */
export interface Answer {
  readonly message: AmqpMessage
  /** Whether it also applies to all earlier messages of the channel. */
  readonly allUpTo: boolean
}

/** Messages of one channel that the broker has not been answered about yet, in the order of their tags. */
export class OpenTags {
  readonly #open = new Map<number, AmqpMessage>()
  /** Done, but an earlier one is not. */
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
   * Marks messages as done. Returns the answer for all that have nothing unsettled before them: one answer covers them all,
   * because one for each would cost the broker more than everything else it does for a message.
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

  /** One answer for each of the others, because the messages before them take too long. */
  rest(): readonly Answer[] {
    const answers = [...this.#untold.values()].map((message) => ({ message, allUpTo: false }))
    this.#untold.clear()
    return answers
  }

  /** Returns messages to the broker one by one, because earlier ones may still be unanswered. */
  giveBack(messages: readonly AmqpMessage[]): readonly Answer[] {
    return messages
      .filter(({ fields }) => this.#open.delete(fields.deliveryTag))
      .map((message) => ({ message, allUpTo: false }))
  }
}
