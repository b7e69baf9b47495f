import type { Clock, Events, LeasedMessage, Outbox, PublishResult, Transport } from '../contracts/index.ts'
import { cleanText } from '../encoding/clean-text.ts'
import { unpackOutgoing } from '../encoding/packed-message.ts'

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

/** Sends what transactions have stored in the outbox. Each message leaves at least once, always under the same id. */
export class Relay {
  readonly #outbox: Outbox<unknown>
  readonly #transport: Transport
  readonly #clock: Clock
  readonly #events: Events
  readonly #options: RelayOptions
  readonly #stopping = new AbortController()
  #sleeping: AbortController | undefined
  #running: Promise<void> | undefined

  constructor(outbox: Outbox<unknown>, transport: Transport, clock: Clock, events: Events, options: RelayOptions) {
    this.#outbox = outbox
    this.#transport = transport
    this.#clock = clock
    this.#events = events
    this.#options = options
  }

  start(): void {
    this.#running = this.#run()
  }

  wake(): void {
    this.#sleeping?.abort()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.wake()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    let failuresInARow = 0
    while (!signal.aborted) {
      // Made before looking, so that a wake-up during the look is not lost.
      this.#sleeping = new AbortController()
      try {
        const sent = await this.#sendSome()
        failuresInARow = 0
        if (sent === 0 && !signal.aborted) await this.#clock.sleep(this.#options.pollMs, this.#sleeping.signal)
      } catch (error) {
        this.#events.emit({ kind: 'loop-failed', loop: 'relay', error })
        // The store or the broker is down. New messages change nothing about that, so they do not wake it.
        const waitMs = Math.min(this.#options.pollMs * 2 ** failuresInARow++, mostWaitMs)
        await this.#clock.sleep(waitMs * (0.5 + this.#clock.random() / 2), signal)
      }
    }
  }

  async #sendSome(): Promise<number> {
    const { batch, leaseMs } = this.#options
    const leased = await this.#outbox.lease(batch, leaseMs)
    if (leased.length === 0) return 0
    const results = await this.#publish(leased)
    const sent = leased.filter((_, index) => results[index]?.kind === 'sent')
    if (sent.length > 0) await this.#outbox.markSent(sent)
    for (const [index, message] of leased.entries()) {
      const result = results[index] as PublishResult
      if (result.kind === 'refused') await this.#refused(message, result.error)
    }
    const held = leased.filter((_, index) => results[index]?.kind === 'held')
    if (held.length > 0) await this.#outbox.release(held)
    this.#events.emit({ kind: 'relayed', sent: sent.length, failed: leased.length - sent.length })
    return sent.length
  }

  /** What may have been sent is given back, so that it is the first to be sent again: nothing else overtakes it. */
  async #publish(leased: readonly LeasedMessage[]): Promise<readonly PublishResult[]> {
    try {
      return await this.#transport.publish(leased.map(({ message }) => unpackOutgoing(message)))
    } catch (error) {
      // If that fails, too, the leases run out by themselves.
      await this.#outbox.release(leased).catch(() => {})
      throw error
    }
  }

  async #refused(message: LeasedMessage, error: Error): Promise<void> {
    const delayMs = Math.min(1_000 * 2 ** message.attempts, 300_000)
    const dead = message.attempts + 1 >= this.#options.attempts
    await this.#outbox.markFailed([message], { delayMs, error: cleanText(String(error), 2_000), dead })
    const [messageId, attempts, state] = [message.id, message.attempts + 1, dead ? 'dead' : 'waiting'] as const
    this.#events.emit({ kind: 'outgoing-refused', messageId, state, attempts, error })
  }
}
