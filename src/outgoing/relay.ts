import type { Clock, Events, OutgoingMessage, PublishResult, Queue, QueuedMessage, Store } from '../contracts/index.ts'
import { unpackOutgoing } from '../encoding/packed-message.ts'
import { Loop } from '../loops/loop.ts'
import { listenForNews } from '../queues/listening.ts'
import type { Destination } from './destinations.ts'
import { refusedLetter } from './refused-letter.ts'

export interface RelayOptions {
  readonly batch: number
  /** Longer than any publish should take: after it another relay may send the same messages, under the same ids. */
  readonly leaseMs: number
  /** A backstop: normally a commit wakes it. */
  readonly pollMs: number
  readonly attempts: number
}

/** The longest pause between two tries while nothing can be sent. */
const mostWaitMs = 5_000
/** The most that are sent at once: a hundred large messages would not fit into the memory. */
const mostBytes = 16 * 1_048_576
const listenAgainMs = 5_000

export interface RelayParts {
  readonly store: Store & { readonly queue: Queue<unknown> }
  readonly destination: Destination
  readonly clock: Clock
  readonly events: Events
}

interface Read {
  readonly queued: QueuedMessage
  readonly message: OutgoingMessage
}

/** Sends what transactions have stored for one destination. Each message leaves at least once, always under the same id. */
export class Relay {
  readonly #parts: RelayParts
  readonly #options: RelayOptions
  readonly #loop: Loop
  #listening: Promise<void> | undefined

  constructor(parts: RelayParts, options: RelayOptions) {
    this.#parts = parts
    this.#options = options
    this.#loop = new Loop({
      ...parts,
      name: 'relay',
      round: async () => ((await this.#sendSome()) > 0 ? 0 : options.pollMs),
      afterFailure: { leastMs: options.pollMs, mostMs: mostWaitMs },
    })
  }

  start(): void {
    const { store, destination, clock } = this.#parts
    this.#loop.start()
    this.#listening = listenForNews(store.queue, destination.queue, {
      signal: this.#loop.signal,
      clock,
      retryMs: listenAgainMs,
      wake: () => this.wake(),
      // It looks from time to time anyway.
      onError: () => {},
    })
  }

  wake(): void {
    this.#loop.wake()
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
    await this.#listening
  }

  async #sendSome(): Promise<number> {
    const { store, destination, events } = this.#parts
    const { batch: limit, leaseMs: visibilityMs } = this.#options
    const taken = await store.queue.take(destination.queue, { limit, visibilityMs, maxBytes: mostBytes })
    if (taken.length === 0) return 0
    const readable = taken.flatMap((queued) => read(queued) ?? [])
    const results = new Map(await this.#publish(readable))
    const by = (kind: PublishResult['kind']) => readable.filter((each) => results.get(each)?.kind === kind)
    const sent = by('sent').map(({ queued }) => queued.ticket)
    if (sent.length > 0) await store.queue.remove(undefined, destination.queue, sent)
    const held = by('held').map(({ queued }) => queued)
    if (held.length > 0) await store.queue.release(destination.queue, held)
    for (const [each, result] of results) if (result.kind === 'refused') await this.#refused(each, result.error)
    for (const queued of taken) if (!readable.some((each) => each.queued === queued)) await this.#unreadable(queued)
    events.emit({
      kind: 'relayed',
      destination: destination.name,
      sent: sent.length,
      failed: taken.length - sent.length,
    })
    return sent.length
  }

  /** What may have been sent is given back, so that it is the first to be sent again: nothing else overtakes it. */
  async #publish(messages: readonly Read[]): Promise<readonly (readonly [Read, PublishResult])[]> {
    const { store, destination } = this.#parts
    if (messages.length === 0) return []
    try {
      const results = await destination.publisher.publish(messages.map(({ message }) => message))
      return messages.map((each, index) => [each, results[index] as PublishResult])
    } catch (error) {
      // If that fails, too, they are there again when their time is up.
      await store.queue
        .release(
          destination.queue,
          messages.map(({ queued }) => queued),
        )
        .catch(() => {})
      throw error
    }
  }

  async #refused(refused: Read, error: Error): Promise<void> {
    const { store, destination, events } = this.#parts
    const { queued, message } = refused
    const attempts = queued.deliveries
    const isDead = attempts >= this.#options.attempts
    if (isDead) await this.#giveUp(refused, error)
    else await store.queue.hide(destination.queue, [queued], Math.min(1_000 * 2 ** (attempts - 1), 300_000))
    events.emit({
      kind: 'outgoing-refused',
      destination: destination.name,
      messageId: message.id,
      state: isDead ? 'dead' : 'waiting',
      attempts,
      error,
    })
  }

  /** In one transaction: at no moment is it in both places, or in none. */
  async #giveUp({ queued, message }: Read, error: Error): Promise<void> {
    const { store, destination, clock } = this.#parts
    await store.transaction(async (tx) => {
      await store.parking.park(tx, [refusedLetter(destination, queued, message, error, clock.now())])
      await store.queue.remove(tx, destination.queue, [queued.ticket])
    })
  }

  async #unreadable(queued: QueuedMessage): Promise<void> {
    const error = new Error('The stored message cannot be read.')
    const message = { id: 'unreadable', type: '', body: queued.message.body, headers: {}, sentAt: new Date(0) }
    await this.#giveUp({ queued, message }, error)
    const { destination, events } = this.#parts
    const { deliveries: attempts } = queued
    const subject = { destination: destination.name, messageId: message.id }
    events.emit({ kind: 'outgoing-refused', ...subject, state: 'dead', attempts, error })
  }
}

function read(queued: QueuedMessage): Read | undefined {
  try {
    return { queued, message: unpackOutgoing(queued.message) }
  } catch {
    return undefined
  }
}
