import type { Clock, Events, OutgoingMessage, PublishResult, Queue, QueuedMessage, Store } from '../contracts/index.ts'
import { unpackOutgoing } from '../encoding/packed-message.ts'
import { isJustonceError } from '../errors/index.ts'
import { type Gate, Loop } from '../loops/loop.ts'
import { listenForNews } from '../queues/listening.ts'
import type { Destination } from './destinations.ts'
import { keepTaken } from './keep-taken.ts'
import { type RefusedMessage, refusedLetter } from './refused-letter.ts'

export interface RelayOptions {
  readonly batch: number
  /** If a relay has been silent for this long, another one may send the same messages, under the same ids. */
  readonly leaseMs: number
  /** A fallback: normally a commit wakes the relay. */
  readonly pollMs: number
  readonly attempts: number
}

/** Where the store tells of what other processes have stored, an idle relay looks more and more rarely, up to so many polls apart. */
const mostPollPauses = 10

/** The longest pause between two tries while nothing can be sent. */
const mostWaitMs = 5_000
/** The most bytes that are sent at once: a hundred large messages would not fit into the memory. */
const mostBytes = 16 * 1_048_576
const listenAgainMs = 5_000
/** When to retry a message that its broker has no room for. */
const passingMs = 10_000

export interface RelayParts {
  readonly store: Store & { readonly queue: Queue<unknown> }
  readonly destination: Destination
  readonly clock: Clock
  readonly events: Events
  readonly gate: Gate
}

/** A taken message; `message` is `undefined` if it cannot be read. */
interface Taken {
  readonly queued: QueuedMessage
  readonly message: OutgoingMessage | undefined
}

/** Sends what transactions have stored for one destination. Each message is sent at least once, always under the same id. */
export class Relay {
  readonly #parts: RelayParts
  readonly #options: RelayOptions
  readonly #loop: Loop
  #listening: Promise<void> | undefined
  #brokerError: unknown
  #isHearing = false
  #emptyTakes = 0

  constructor(parts: RelayParts, options: RelayOptions) {
    this.#parts = parts
    this.#options = options
    this.#loop = new Loop({
      ...parts,
      gate: this.#gate(parts.gate),
      name: 'relay',
      round: async () => ((await this.#sendSome()) > 0 ? 0 : this.#pauseMs()),
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
      onHearing: (isHearing) => {
        this.#isHearing = isHearing
      },
      // The relay polls anyway.
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

  /** A broker that is away must not close the gate: the error of its client may look like one of the store's. */
  #gate(gate: Gate): Gate {
    return {
      open: (signal) => gate.open(signal),
      closesFor: (error, signal) => error !== this.#brokerError && gate.closesFor(error, signal),
    }
  }

  #pauseMs(): number {
    const pauses = this.#isHearing ? Math.max(1, Math.min(this.#emptyTakes, mostPollPauses)) : 1
    return pauses * this.#options.pollMs
  }

  async #sendSome(): Promise<number> {
    const { store, destination, events } = this.#parts
    const { batch: limit, leaseMs: visibilityMs } = this.#options
    const taken = (await store.queue.take(destination.queue, { limit, visibilityMs, maxBytes: mostBytes })).map(read)
    this.#emptyTakes = taken.length === 0 ? this.#emptyTakes + 1 : 0
    if (taken.length === 0) return 0
    const results = await this.#publish(taken)
    const queuedBy = (kind: PublishResult['kind']): QueuedMessage[] =>
      taken.flatMap(({ queued }, index) => (results[index]?.kind === kind ? [queued] : []))
    const sent = queuedBy('sent').map(({ ticket }) => ticket)
    if (sent.length > 0) await store.queue.remove(undefined, destination.queue, sent)
    const held = queuedBy('held')
    if (held.length > 0) await store.queue.hide(destination.queue, held, 0, { untaken: true })
    for (const [index, each] of taken.entries()) {
      const result = results[index]
      if (result?.kind === 'refused') await this.#refused(each, result)
    }
    const failed = taken.length - sent.length
    events.emit({ kind: 'relayed', destination: destination.name, sent: sent.length, failed })
    return sent.length
  }

  /** Messages that may have been sent are given back, so that they are the first to be sent again and nothing overtakes them. */
  async #publish(taken: readonly Taken[]): Promise<readonly PublishResult[]> {
    const { store, destination, clock } = this.#parts
    const messages = taken.flatMap(({ message }) => message ?? [])
    const queued = taken.map((each) => each.queued)
    const keeping = { queue: store.queue, name: destination.queue, leaseMs: this.#options.leaseMs, clock }
    try {
      const publish = async () => (messages.length === 0 ? [] : destination.publisher.publish(messages))
      const results = [...(await keepTaken(queued, keeping, publish))]
      return taken.map(({ message }) => (message === undefined ? unreadable : (results.shift() as PublishResult)))
    } catch (error) {
      this.#brokerError = error
      // If that fails too, they are available again when their lease ends.
      await store.queue.hide(destination.queue, queued, 0, { untaken: true }).catch(() => {})
      throw error
    }
  }

  async #refused({ queued, message }: Taken, { error, isPassing }: Refused): Promise<void> {
    const { store, destination, events } = this.#parts
    const { id = 'unreadable', type = '' } = message ?? {}
    const attempts = queued.deliveries
    const isDead = message === undefined || (!isPassing && attempts >= this.#options.attempts)
    if (isDead && !(await this.#giveUp(queued, { ...message, id, type }, error))) return
    // This refusal says nothing about the message, so it does not count as an attempt: the next refusal may.
    if (isPassing) await store.queue.hide(destination.queue, [queued], passingMs, { untaken: true })
    else if (!isDead)
      await store.queue.hide(destination.queue, [queued], Math.min(1_000 * 2 ** (attempts - 1), 300_000))
    const state = isDead ? 'dead' : 'waiting'
    events.emit({ kind: 'outgoing-refused', destination: destination.name, messageId: id, state, attempts, error })
  }

  /**
   * In one transaction, so that the message is never in both places or in none. False if another relay has it or has sent it,
   * because this one was frozen for too long.
   */
  async #giveUp(queued: QueuedMessage, message: RefusedMessage, error: Error): Promise<boolean> {
    const { store, destination, clock } = this.#parts
    try {
      await store.transaction(async (tx) => {
        await store.queue.remove(tx, destination.queue, [queued.ticket], queued)
        await store.parking.park(tx, [refusedLetter(destination, queued, message, error, clock.now())])
      })
      return true
    } catch (failure) {
      if (isJustonceError(failure, 'CLAIM_LOST')) return false
      throw failure
    }
  }
}

type Refused = PublishResult & { readonly kind: 'refused' }

const unreadable: PublishResult = { kind: 'refused', error: new Error('The stored message cannot be read.') }

function read(queued: QueuedMessage): Taken {
  try {
    return { queued, message: unpackOutgoing(queued.message) }
  } catch {
    return { queued, message: undefined }
  }
}
