/** The parts of amqplib that we use. Any client of this shape will do. */
export interface AmqpClient {
  connect(url: string, options: { readonly timeout: number }): PromiseLike<AmqpConnection>
}

/** The part of a connection of `amqplib` that is used. */
export interface AmqpConnection {
  createChannel(): PromiseLike<AmqpChannel>
  createConfirmChannel(): PromiseLike<AmqpConfirmChannel>
  on(event: string, listener: (value?: unknown) => void): unknown
  close(): PromiseLike<unknown>
  /**
   * If the client exposes it: the largest frame that both sides accept, the socket, for a close that hangs, and what the server says
   * of itself.
   */
  readonly connection?: object
}

/** The part of a channel of `amqplib` that is used. */
export interface AmqpChannel {
  prefetch(count: number): PromiseLike<unknown>
  consume(
    queue: string,
    onMessage: (message: AmqpMessage | null) => void,
  ): PromiseLike<{ readonly consumerTag: string }>
  cancel(consumerTag: string): PromiseLike<unknown>
  ack(message: AmqpMessage, allUpTo: boolean): void
  nack(message: AmqpMessage, allUpTo: boolean, requeue: boolean): void
  checkQueue(queue: string): PromiseLike<{ readonly messageCount?: number }>
  assertQueue(queue: string, options: AmqpQueueOptions): PromiseLike<unknown>
  bindQueue(queue: string, exchange: string, routingKey: string): PromiseLike<unknown>
  on(event: string, listener: (value?: unknown) => void): unknown
  close(): PromiseLike<unknown>
}

/** The part of a confirm channel of `amqplib` that is used. */
export interface AmqpConfirmChannel extends AmqpChannel {
  publish(
    exchange: string,
    routingKey: string,
    content: Buffer,
    options: AmqpPublishOptions,
    confirmed: (error: unknown) => void,
  ): boolean
}

/** The properties that a queue is declared with. */
export interface AmqpQueueOptions {
  readonly durable: boolean
  readonly arguments: Record<string, unknown>
}

/** The properties that a message is published with. */
export interface AmqpPublishOptions {
  readonly persistent: boolean
  readonly mandatory: boolean
  readonly contentType?: string
  readonly messageId?: string
  readonly type?: string
  readonly timestamp?: number
  readonly headers: Record<string, unknown>
}

/** The properties cannot be trusted: a producer may have set any of them to anything. */
export interface AmqpMessage {
  readonly content: Uint8Array
  readonly fields: {
    readonly deliveryTag: number
    readonly redelivered: boolean
    readonly exchange: string
    readonly routingKey: string
  }
  readonly properties: {
    readonly headers?: Readonly<Record<string, unknown>> | undefined
    readonly messageId?: unknown
    readonly type?: unknown
    readonly timestamp?: unknown
    readonly contentType?: unknown
    readonly contentEncoding?: unknown
    readonly correlationId?: unknown
    readonly replyTo?: unknown
  }
}
