import { inTime } from '../../clock/index.ts'
import type { Clock, Delivery } from '../../contracts/index.ts'
import type { AmqpChannel, AmqpMessage } from './client-shapes.ts'
import { type Answer, OpenTags } from './open-tags.ts'
import { Rungs } from './rungs.ts'

/** How long a broker may take to answer when we leave. */
const farewellMs = 3_000

/** How long an acknowledgement waits, to be sent with earlier ones. If it is lost in a crash, its message is redelivered. */
const togetherMs = 100

export interface Subscription {
  readonly queue: string
  readonly prefetch: number
  toDelivery(message: AmqpMessage): Delivery
  /** How much of the prefetch is wanted now. Default: all of it. */
  wanted?(): number
}

/** The broker assigns the tag when the consumer begins. */
interface Consumer {
  tag: string | undefined
}

export interface ChannelLifeOptions {
  readonly clock: Clock
  /** Keeps the order: no other consumer is given anything before the channel is closed. */
  readonly inOrder: boolean
  /** The client's error when the connection was lost. */
  whyLost(): unknown
}

/** The life that a delivery came from. It can be settled only there. */
export interface Receipt {
  readonly message: AmqpMessage
  readonly life: ChannelLife
}

/**
 * One lifetime of a channel and everything delivered through it. Tags start at 1 in every channel, so a delivery can be settled
 * only in its own life. When that has ended, the broker redelivers it.
 */
export class ChannelLife {
  readonly #channel: AmqpChannel
  readonly #options: ChannelLifeOptions
  readonly #open = new OpenTags()
  /** Arrived, but not handed over. */
  readonly #arrived: { readonly message: AmqpMessage; readonly subscription: Subscription }[] = []
  /** Handed over, and neither settled nor released. */
  readonly #inHands = new Set<AmqpMessage>()
  readonly #consumers = new Set<Consumer>()
  readonly #broughtBy = new WeakMap<AmqpMessage, Consumer>()
  readonly #ended = Promise.withResolvers<void>()
  readonly #over = new AbortController()
  readonly #rungs: { readonly rungs: Rungs<Consumer>; readonly most: number; wanted(): number }[] = []
  #beginning: Promise<unknown> = Promise.resolve()
  #wake: () => void = () => {}
  #telling: { cancel(): void } | undefined
  #left = false
  #closing: Promise<void> | undefined
  /** Why it ended, unless we closed it. */
  reason: unknown
  hasEnded = false

  constructor(channel: AmqpChannel, options: ChannelLifeOptions) {
    this.#channel = channel
    this.#options = options
    channel.on('error', (error) => {
      this.reason = error
    })
    channel.on('close', () => this.#end())
  }

  /** Aborted when it has ended. */
  get over(): AbortSignal {
    return this.#over.signal
  }

  async subscribe(subscription: Subscription): Promise<void> {
    if (this.#left) return
    const { wanted = () => subscription.prefetch } = subscription
    const rungs = new Rungs({
      begin: (prefetch) => this.#consume(subscription, prefetch),
      end: (consumer) => this.#cancel(consumer),
      unsettled: (consumer) => this.#open.count((message) => this.#broughtBy.get(message) === consumer),
    })
    await rungs.adjust(wanted(), subscription.prefetch)
    this.#rungs.push({ rungs, wanted, most: subscription.prefetch })
  }

  /** Lets the broker send as much as is wanted now. */
  adjust(): void {
    if (this.#left || this.hasEnded || this.#closing !== undefined) return
    for (const { rungs, wanted, most } of this.#rungs) {
      void rungs.adjust(wanted(), most).catch((error: unknown) => {
        this.reason ??= error
        void this.close()
      })
    }
  }

  get isReading(): boolean {
    return this.#rungs.length > 0 && !this.#left && !this.hasEnded && this.#closing === undefined
  }

  /**
   * How many messages wait in a queue that is being read. It is asked on this channel: where a user may have no more channels,
   * opening another one ends the whole connection.
   */
  async waitingIn(queue: string): Promise<number | undefined> {
    const { messageCount } = await this.#channel.checkQueue(queue)
    return messageCount
  }

  /** One after another, because the prefetch applies to the next consumer of the channel. */
  #consume(subscription: Subscription, prefetch: number): Promise<Consumer> {
    const beginning = this.#beginning.then(() => this.#begin(subscription, prefetch))
    this.#beginning = beginning.catch(() => {})
    return beginning
  }

  async #begin(subscription: Subscription, prefetch: number): Promise<Consumer> {
    const consumer: Consumer = { tag: undefined }
    await this.#channel.prefetch(prefetch)
    const { consumerTag } = await this.#channel.consume(subscription.queue, (message) => {
      if (message === null) return this.#cancelled(subscription)
      this.#open.add(message)
      this.#broughtBy.set(message, consumer)
      this.#arrived.push({ message, subscription })
      this.#wake()
    })
    consumer.tag = consumerTag
    this.#consumers.add(consumer)
    return consumer
  }

  async #cancel(consumer: Consumer): Promise<void> {
    this.#consumers.delete(consumer)
    await this.#answered(() => this.#channel.cancel(consumer.tag as string))
  }

  /** Everything that has arrived, as soon as there is something. `undefined` at the end. */
  async next(signal: AbortSignal): Promise<readonly Delivery[] | undefined> {
    while (!signal.aborted && !this.hasEnded) {
      if (this.#arrived.length > 0) return this.#arrived.splice(0).map((each) => this.#handOver(each))
      await this.#woken(signal)
    }
    return undefined
  }

  acknowledge(given: readonly AmqpMessage[]): void {
    if (this.hasEnded) return
    const messages = this.#letGo(given)
    this.#acknowledged(this.#open.done(messages))
    // No more than this are held back: they count as unsettled, and the broker would stop sending.
    const mostUntold = Math.min(...this.#rungs.map(({ rungs }) => rungs.prefetch / 2))
    if (this.#open.untold > mostUntold) this.#tellTheRest()
    else if (this.#open.untold > 0) {
      this.#telling ??= this.#options.clock.timer(togetherMs, () => this.#tellTheRest())
    }
    this.adjust()
    this.#closeIfDone()
  }

  release(given: readonly AmqpMessage[]): void {
    const messages = this.#letGo(given)
    if (this.hasEnded || messages.length === 0) return
    if (!this.#options.inOrder) this.#giveBack(messages)
    // Later messages would overtake these. Only closing the channel returns everything in order.
    else if (!this.#left) void this.close()
    this.adjust()
    this.#closeIfDone()
  }

  /** Accepts no more. Deliveries already handed over can still be settled, and the channel is closed after the last one. */
  async leave(): Promise<void> {
    if (this.#left || this.hasEnded) return
    this.#left = true
    if (!this.#options.inOrder) {
      for (const consumer of this.#consumers) await this.#cancel(consumer)
      this.#giveBack(this.#arrived.splice(0).map(({ message }) => message))
    }
    this.#closeIfDone()
    await this.#closing
  }

  /** Returns everything unsettled, by closing the channel in an orderly way: acknowledgements in flight still get through. */
  close(): Promise<void> {
    if (this.#closing === undefined) {
      this.#tellTheRest()
      this.#closing = this.#answered(() => this.#channel.close()).then(() => this.#end())
    }
    return this.#closing
  }

  #handOver({
    message,
    subscription,
  }: {
    readonly message: AmqpMessage
    readonly subscription: Subscription
  }): Delivery {
    this.#inHands.add(message)
    const receipt: Receipt = { message, life: this }
    return { ...subscription.toDelivery(message), ended: this.#over.signal, receipt }
  }

  /** A quorum queue of RabbitMQ 4 does not count this as a failed delivery, unlike a reject. */
  #giveBack(messages: readonly AmqpMessage[]): void {
    for (const { message, allUpTo } of this.#open.giveBack(messages)) {
      this.#tell(() => this.#channel.nack(message, allUpTo, true))
    }
  }

  #acknowledged(answers: readonly Answer[]): void {
    for (const { message, allUpTo } of answers) this.#tell(() => this.#channel.ack(message, allUpTo))
  }

  #tellTheRest(): void {
    this.#telling?.cancel()
    this.#telling = undefined
    if (!this.hasEnded) this.#acknowledged(this.#open.rest())
  }

  /** Ensures that nothing is settled twice. */
  #letGo(messages: readonly AmqpMessage[]): readonly AmqpMessage[] {
    return messages.filter((message) => this.#inHands.delete(message))
  }

  #closeIfDone(): void {
    if (this.#left && this.#inHands.size === 0) void this.close()
  }

  #cancelled({ queue }: Subscription): void {
    this.reason = Object.assign(new Error(`the broker has cancelled the consumer of ${queue}`), { code: 404 })
    void this.close()
  }

  /** The client throws if the channel has just been closed. The broker then redelivers the message. */
  #tell(send: () => void): void {
    try {
      send()
    } catch (error) {
      this.reason ??= error
      this.#end()
    }
  }

  async #answered(ask: () => PromiseLike<unknown>): Promise<void> {
    const asking = (async () => ask())().catch(() => {})
    await inTime(Promise.race([asking, this.#ended.promise]), { clock: this.#options.clock, withinMs: farewellMs })
  }

  #end(): void {
    if (this.#closing === undefined) this.reason ??= this.#options.whyLost() ?? new Error('the connection was lost')
    this.hasEnded = true
    this.#over.abort()
    this.#telling?.cancel()
    this.#arrived.length = 0
    this.#ended.resolve()
    this.#wake()
  }

  #woken(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#wake = wake
      signal.addEventListener('abort', wake)
    })
  }
}
