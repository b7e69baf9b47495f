import type { Clock, OutgoingMessage } from '../../contracts/index.ts'
import { checkChoice, checkFunction, checkNumber, checkOptions, JustonceError } from '../../errors/index.ts'
import type { AmqpClient, AmqpConnection } from './client-shapes.ts'

/** How a connection to RabbitMQ is made. */
export interface WayToConnect {
  /** The client to connect with, together with `url`; or give `connect` instead. `amqplib` or anything of its shape. */
  readonly client?: AmqpClient
  /** `amqp://user:password@host:5672/vhost`. A heartbeat of ten seconds is added unless it specifies one. */
  readonly url?: string
  /** Opens one connection. Called for every reconnect. Two are open if messages are also published. */
  readonly connect?: () => PromiseLike<AmqpConnection>
  /** Default: 10,000. */
  readonly connectTimeoutMs?: number
  /** The clock, for tests. Default: the system clock. */
  readonly clock?: Clock
}

/** What `rabbitmqTransport()` takes. */
export interface RabbitmqTransportOptions extends WayToConnect {
  /** The name of the queue to read. */
  readonly queue: string
  /** Creates the queue, or checks that it is as described here. Default: the queue must already exist. */
  readonly declare?: DeclareOptions
  /** The type of a queue that is not declared here. Quorum queues count deliveries. Default: `classic`. */
  readonly queueType?: QueueType
  /** The queue is read by one consumer at a time, so that messages of one key stay in order. Default: false. */
  readonly singleActiveConsumer?: boolean
  /**
   * The queue where the broker puts messages it has given up on. It is read too, and its messages become dead letters of ours.
   * With `declare`, it is created and the queue is configured to use it.
   */
  readonly deadLetterQueue?: string
  /** Where published messages go. With an exchange, the routing key is by default the type. Default: into the queue. */
  readonly publishTo?: PublishTarget
  /** A message without a type gets its routing key as the type. Default: false. */
  readonly routingKeyAsType?: boolean
  /** A larger message is refused before it is sent. Default: 16,777,216, the limit of RabbitMQ 4. */
  readonly maxMessageBytes?: number
  /** The broker's `consumer_timeout`. Messages that have waited for half of it are given back. Default: 1,800,000. */
  readonly consumerTimeoutMs?: number
  /** A message that is not confirmed within this time counts as lost. Default: 30,000. */
  readonly confirmTimeoutMs?: number
  /** Receives errors that the transport recovers from: the connection was lost and is opened again. */
  readonly onError?: (error: unknown) => void
}

/** Quorum queues are replicated and count deliveries; classic queues do neither. */
export type QueueType = 'quorum' | 'classic'

/** The queue as `rabbitmqTransport()` creates it, or expects it to be. */
export interface DeclareOptions {
  /** Default: `quorum`. */
  readonly type?: QueueType
  /** Only a classic queue can be non-durable. Default: true. */
  readonly durable?: boolean
  /** After this many redeliveries, a quorum queue gives up on a message. Default: the broker's limit. */
  readonly deliveryLimit?: number
  /** The exchanges that the queue gets messages from. Default: none. */
  readonly bindings?: readonly { readonly exchange: string; readonly routingKey: string }[]
  /** More `x-` arguments of the queue. They override ours. */
  readonly arguments?: Readonly<Record<string, unknown>>
}

/** Where `rabbitmqPublisher()` sends messages to. */
export interface PublishTarget {
  /** It must exist. `''` is the default exchange, whose routing keys are names of queues. */
  readonly exchange: string
  /** A text, or a function of the message. Default: the type of the message. */
  readonly routingKey?: string | ((message: OutgoingMessage) => string)
}

const known = [
  'client',
  'url',
  'connect',
  'queue',
  'declare',
  'queueType',
  'singleActiveConsumer',
  'deadLetterQueue',
  'publishTo',
  'routingKeyAsType',
  'maxMessageBytes',
  'consumerTimeoutMs',
  'confirmTimeoutMs',
  'connectTimeoutMs',
  'clock',
  'onError',
]

const queueTypes = ['quorum', 'classic']

export function checkRabbitmqOptions(options: RabbitmqTransportOptions): void {
  checkOptions(options, known, 'rabbitmqTransport()')
  checkWayToConnect(options)
  const { queue, declare, queueType, deadLetterQueue, publishTo } = options
  checkName(queue, 'queue')
  if (deadLetterQueue !== undefined) checkName(deadLetterQueue, 'deadLetterQueue')
  if (deadLetterQueue === queue) throw invalid(`deadLetterQueue is the queue itself: ${JSON.stringify(queue)}.`)
  if (queueType !== undefined) checkChoice(queueType, 'queueType', queueTypes)
  if (declare !== undefined) checkDeclare(declare, queueType)
  if (publishTo !== undefined) {
    checkOptions(publishTo, ['exchange', 'routingKey'], 'publishTo')
    checkPublishTarget(publishTo)
  }
  for (const name of ['maxMessageBytes', 'consumerTimeoutMs', 'confirmTimeoutMs', 'connectTimeoutMs'] as const) {
    if (options[name] !== undefined) checkNumber(options[name], name, 1)
  }
  if (options.onError !== undefined) checkFunction(options.onError, 'onError')
}

export function checkPublishTarget({ exchange, routingKey }: PublishTarget): void {
  if (typeof exchange !== 'string') throw invalid(`exchange is ${typeof exchange}, not text.`)
  if (routingKey !== undefined && typeof routingKey !== 'string') checkFunction(routingKey, 'routingKey')
}

/** A function has no name that is the same in every process. Users with two of them on one exchange name them in `to`. */
export function destinationOf({ exchange, routingKey }: PublishTarget): string {
  return typeof routingKey === 'string' ? `rabbitmq:${exchange}/${routingKey}` : `rabbitmq:${exchange}`
}

export function checkWayToConnect({ client, url, connect }: WayToConnect): void {
  if (connect !== undefined) {
    checkFunction(connect, 'connect')
    if (url !== undefined || client !== undefined)
      throw invalid('connect stands instead of client and url, not beside them.')
    return
  }
  if (url === undefined || client === undefined) throw invalid('Either connect or both client and url are needed.')
  checkFunction(client.connect, 'client.connect')
  // The URL is not shown, because it may contain a password.
  if (typeof url !== 'string' || !/^amqps?:\/\/[^/]/.test(url) || !URL.canParse(url))
    throw invalid('url is not of the form amqp://user:password@host:port/vhost.')
}

function checkDeclare(declare: DeclareOptions, queueType: QueueType | undefined): void {
  checkOptions(declare, ['type', 'durable', 'deliveryLimit', 'bindings', 'arguments'], 'declare')
  const { type = 'quorum', durable, deliveryLimit } = declare
  checkChoice(type, 'declare.type', queueTypes)
  const { 'x-queue-type': another = type } = declare.arguments ?? {}
  if (another !== type) throw invalid(`declare.type is ${type}, but x-queue-type of declare.arguments is ${another}.`)
  if (queueType !== undefined && queueType !== type)
    throw invalid(`queueType is ${queueType}, but declare.type is ${type}.`)
  if (durable === false && type === 'quorum')
    throw invalid('declare.durable is false, but a quorum queue is always durable.')
  if (deliveryLimit === undefined) return
  checkNumber(deliveryLimit, 'declare.deliveryLimit', 1)
  if (type === 'classic')
    throw invalid('declare.deliveryLimit is for quorum queues: classic ones do not count deliveries.')
}

/** AMQP limits names to 255 bytes. */
function checkName(name: unknown, what: string): void {
  if (typeof name === 'string' && name !== '' && Buffer.byteLength(name) <= 255) return
  throw invalid(`${what} is ${JSON.stringify(name)}, but must be text of 1 to 255 bytes.`)
}

function invalid(message: string): JustonceError {
  return new JustonceError('OPTION_INVALID', { message })
}
