import { inTime } from '../../clock/index.ts'
import type { Clock } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import type { AmqpConfirmChannel, AmqpConnection, AmqpMessage } from './client-shapes.ts'
import type { Opened } from './link.ts'
import type { WireMessage } from './to-wire.ts'

export type Answer =
  | { readonly kind: 'sent' }
  | { readonly kind: 'refused'; readonly error: JustonceError; readonly isPassing?: boolean }
  /** The broker may or may not have it. */
  | { readonly kind: 'lost' }

export interface ConfirmedSendingOptions {
  readonly clock: Clock
  readonly timeoutMs: number
  /** The error for an answer that has not come in time. */
  silence(what: string): Error
}

/** One confirm channel. It is unusable after the first message whose confirmation did not arrive. */
export class ConfirmedSending {
  readonly #channel: AmqpConfirmChannel
  readonly #options: ConfirmedSendingOptions
  /** How many were returned because no queue wants them. The broker returns them before it confirms them. */
  readonly #returned = new Map<string, number>()
  readonly #closed = Promise.withResolvers<Answer>()
  readonly #frameBytes: number
  reason: unknown
  hasEnded = false
  /** No queue wanted a message: one that is declared here may have been deleted. */
  foundNoQueue = false
  /** What was declared has closed the channel, and none of the messages that were sent meanwhile. */
  isClosedByPreparing = false
  #isPreparing = false

  constructor({ connection, channel }: Opened<AmqpConfirmChannel>, options: ConfirmedSendingOptions) {
    this.#channel = channel
    this.#frameBytes = largestFrame(connection)
    this.#options = options
    channel.on('error', (error) => {
      this.reason = error
      this.isClosedByPreparing = this.#isPreparing
    })
    channel.on('close', () => {
      this.hasEnded = true
    })
    channel.on('return', (message) => {
      const { fields, properties } = message as AmqpMessage
      const name = nameOf(fields.exchange, fields.routingKey, properties.headers?.['cloudEvents:id'])
      this.#returned.set(name, (this.#returned.get(name) ?? 0) + 1)
    })
  }

  /** Makes sure that the target exists. Others may be waiting for confirmations on this channel. */
  async prepare(declare: (channel: AmqpConfirmChannel) => Promise<void>): Promise<void> {
    this.foundNoQueue = false
    this.#isPreparing = true
    try {
      await declare(this.#channel)
    } finally {
      this.#isPreparing = false
    }
  }

  async send(wire: WireMessage): Promise<Answer> {
    if (wire.headerFrameBytes > this.#frameBytes) return { kind: 'refused', error: tooLarge(wire, this.#frameBytes) }
    const answering = Promise.race([this.#confirmation(wire), this.#closed.promise])
    const { clock, timeoutMs, silence } = this.#options
    const answer = await inTime(answering, { clock, withinMs: timeoutMs })
    if (answer !== undefined) return answer
    this.reason ??= silence('confirmation')
    void this.close()
    return { kind: 'lost' }
  }

  async close(): Promise<void> {
    if (this.hasEnded) return
    this.hasEnded = true
    const closing = (async () => this.#channel.close())().catch(() => {})
    await inTime(closing, { clock: this.#options.clock, withinMs: 3_000 })
    // Confirmations still missing at this point will never arrive.
    this.reason ??= new Error('the transport was closed')
    this.#closed.resolve({ kind: 'lost' })
  }

  #confirmation(wire: WireMessage): Promise<Answer> {
    const { exchange, routingKey, content, options } = wire
    return new Promise((resolve) => {
      try {
        this.#channel.publish(exchange, routingKey, content, options, (error) => resolve(this.#answer(wire, error)))
      } catch (error) {
        resolve(this.#notSent(error))
      }
    })
  }

  /** Either the channel has just been closed, or the client can never encode this message. */
  #notSent(error: unknown): Answer {
    const isClosed = this.hasEnded || (error instanceof Error && error.name === 'IllegalOperationError')
    if (!isClosed) {
      const message = `The client cannot send it: ${String(error)}.`
      return { kind: 'refused', error: new JustonceError('PUBLISH_REFUSED', { message, cause: error }) }
    }
    this.hasEnded = true
    this.reason ??= error
    return { kind: 'lost' }
  }

  #answer({ exchange, routingKey, options }: WireMessage, error: unknown): Answer {
    const name = nameOf(exchange, routingKey, options.headers['cloudEvents:id'])
    const returned = this.#returned.get(name) ?? 0
    if (returned > 0) {
      if (returned === 1) this.#returned.delete(name)
      else this.#returned.set(name, returned - 1)
      this.foundNoQueue = true
      return { kind: 'refused', error: unroutable(exchange, routingKey) }
    }
    if (error === null || error === undefined) return { kind: 'sent' }
    // Any error except a clear refusal may mean that it was sent.
    if (error instanceof Error && /\bnack/i.test(error.message)) {
      const message = `RabbitMQ did not take the message for ${JSON.stringify(routingKey)} (the queue may be full).`
      const refusal = new JustonceError('PUBLISH_REFUSED', { message, cause: error })
      return { kind: 'refused', error: refusal, isPassing: true }
    }
    this.reason ??= error
    return { kind: 'lost' }
  }
}

/** The client does not split header frames. If one is larger, the broker closes the connection, for all messages. */
function largestFrame({ connection = {} }: AmqpConnection): number {
  const { frameMax } = connection as { readonly frameMax?: unknown }
  return typeof frameMax === 'number' && frameMax > 0 ? frameMax : Number.POSITIVE_INFINITY
}

function tooLarge({ headerFrameBytes }: WireMessage, frameBytes: number): JustonceError {
  const message = `Its headers take a frame of ${headerFrameBytes} bytes, and the connection has frames of ${frameBytes}.`
  return new JustonceError('PUBLISH_REFUSED', { message })
}

/** In the form in which it is returned: an unpaired surrogate does not survive encoding. */
function nameOf(...address: readonly unknown[]): string {
  return JSON.stringify(address.map((each) => String(each).toWellFormed()))
}

function unroutable(exchange: string, routingKey: string): JustonceError {
  const message = `No queue is bound to the routing key ${JSON.stringify(routingKey)} of exchange ${JSON.stringify(exchange)}.`
  return new JustonceError('PUBLISH_REFUSED', { message, details: { exchange, routingKey } })
}
