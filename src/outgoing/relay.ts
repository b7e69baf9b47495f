import type { Clock, Events, LeasedMessage, Outbox, PublishResult, Transport } from '../contracts/index.ts'
import { cleanText } from '../encoding/clean-text.ts'
import { unpackOutgoing } from '../encoding/packed-message.ts'
import { Loop } from '../loops/loop.ts'

export interface RelayOptions {
  readonly batch: number
  /** Longer than any publish should take: after it another relay may send the same messages, under the same ids. */
  readonly leaseMs: number
  /** A backstop: normally a commit in this process wakes it. */
  readonly pollMs: number
  readonly attempts: number
}

/** The longest pause between two tries while nothing can be sent. */
const mostWaitMs = 5_000
/** The most that are sent at once: a hundred large messages would not fit into the memory. */
const mostBytes = 16 * 1_048_576

export interface RelayParts {
  readonly outbox: Outbox<unknown>
  readonly transport: Transport
  readonly clock: Clock
  readonly events: Events
}

/** Sends what transactions have stored in the outbox. Each message leaves at least once, always under the same id. */
export function relay(parts: RelayParts, options: RelayOptions): Loop {
  const sending = new Sending(parts, options)
  return new Loop({
    ...parts,
    name: 'relay',
    round: async () => ((await sending.sendSome()) > 0 ? 0 : options.pollMs),
    afterFailure: { leastMs: options.pollMs, mostMs: mostWaitMs },
  })
}

class Sending {
  readonly #parts: RelayParts
  readonly #options: RelayOptions

  constructor(parts: RelayParts, options: RelayOptions) {
    this.#parts = parts
    this.#options = options
  }

  async sendSome(): Promise<number> {
    const { batch, leaseMs } = this.#options
    const leased = await this.#parts.outbox.lease(batch, leaseMs, mostBytes)
    if (leased.length === 0) return 0
    const results = await this.#publish(leased)
    const sent = leased.filter((_, index) => results[index]?.kind === 'sent')
    if (sent.length > 0) await this.#parts.outbox.markSent(sent)
    for (const [index, message] of leased.entries()) {
      const result = results[index] as PublishResult
      if (result.kind === 'refused') await this.#refused(message, result.error)
    }
    const held = leased.filter((_, index) => results[index]?.kind === 'held')
    if (held.length > 0) await this.#parts.outbox.release(held)
    this.#parts.events.emit({ kind: 'relayed', sent: sent.length, failed: leased.length - sent.length })
    return sent.length
  }

  /** What may have been sent is given back, so that it is the first to be sent again: nothing else overtakes it. */
  async #publish(leased: readonly LeasedMessage[]): Promise<readonly PublishResult[]> {
    try {
      return await this.#parts.transport.publish(leased.map(({ message }) => unpackOutgoing(message)))
    } catch (error) {
      // If that fails, too, the leases run out by themselves.
      await this.#parts.outbox.release(leased).catch(() => {})
      throw error
    }
  }

  async #refused(message: LeasedMessage, error: Error): Promise<void> {
    const delayMs = Math.min(1_000 * 2 ** message.attempts, 300_000)
    const dead = message.attempts + 1 >= this.#options.attempts
    await this.#parts.outbox.markFailed([message], { delayMs, error: cleanText(String(error), 2_000), dead })
    const [messageId, attempts, state] = [message.id, message.attempts + 1, dead ? 'dead' : 'waiting'] as const
    this.#parts.events.emit({ kind: 'outgoing-refused', messageId, state, attempts, error })
  }
}
