import { inTime, systemClock } from '../../clock/index.ts'
import type { Appetite, Delivery, Transport } from '../../contracts/index.ts'
import { JustonceError, quiet } from '../../errors/index.ts'
import { accessRefused, brokerError, replyCode } from './broker-errors.ts'
import { ChannelLife, type Receipt, type Subscription } from './channel-life.ts'
import type { AmqpConnection, AmqpMessage } from './client-shapes.ts'
import { connectBy } from './connect-by.ts'
import { newLink } from './link.ts'
import { checkRabbitmqOptions, destinationOf, type RabbitmqTransportOptions } from './options.ts'
import { newPublisher } from './publisher.ts'
import { readQueue } from './read-queue.ts'
import { renewBindings } from './renew-bindings.ts'
import { dropsAtItsLimit, setupWarnings } from './setup-warnings.ts'
import { subscribeWhenThere } from './subscribe-when-there.ts'
import { toDeadDelivery, toDelivery } from './to-delivery.ts'
import { declareTopology, readsStream } from './topology.ts'

/** AMQP has 16 bits for the number of unsettled messages. 0 would mean no limit. */
const largestPrefetch = 65_535
/** How many messages of the dead letter queue are read at a time. */
const deadPrefetch = 10

/** A queue without a leader does not answer until it has one. */
const setupMs = 20_000

interface Reading {
  readonly maxInFlight: number
  readonly appetite: Appetite | undefined
  report(error: JustonceError): void
}

/**
 * RabbitMQ, with quorum and classic queues, through `amqplib` or a client of its shape.
 *
 * @example
 * import * as client from 'amqplib'
 * const transport = rabbitmqTransport({ client, url: 'amqp://localhost', queue: 'notes', declare: { type: 'quorum' } })
 */
export function rabbitmqTransport(options: RabbitmqTransportOptions): Transport {
  checkRabbitmqOptions(options)
  const { queue, deadLetterQueue, declare, clock = systemClock, singleActiveConsumer: inOrder = false } = options
  const queueType = options.queueType ?? (declare === undefined ? 'classic' : (declare.type ?? 'quorum'))
  const source = `rabbitmq:${queue}`
  const onError = quiet(options.onError)
  const connecting = { connect: connectBy(options), timeoutMs: options.connectTimeoutMs ?? 10_000, clock }
  // Two connections: when the broker is short of memory, it stops reading from those that publish, and acknowledgements must
  // still get through.
  const [incoming, outgoing] = [newLink(connecting), newLink(connecting)]
  const lives = new Set<ChannelLife>()
  const shape = { source, inOrder, routingKeyAsType: options.routingKeyAsType ?? false }
  let closing = new AbortController()

  let saidStream = false
  const toLive = (message: AmqpMessage, report: Reading['report']): Delivery => {
    const stream = saidStream ? undefined : readsStream(message, queue)
    if (stream !== undefined) {
      saidStream = true
      report(stream)
    }
    return toDelivery(message, shape)
  }

  let saidDropping = false
  /** Asked again when the server is known, because its version decides what it does by default. */
  const sayDropping = (report: Reading['report']): void => {
    const dropping = saidDropping ? undefined : dropsAtItsLimit(options, incoming.version())
    if (dropping === undefined) return
    saidDropping = true
    report(dropping)
  }

  const subscriptions = ({ maxInFlight, appetite, report }: Reading): [live: Subscription, dead?: Subscription] => {
    const most = Math.min(Math.max(Math.floor(maxInFlight), 1), largestPrefetch)
    const dead = deadLetterQueue === undefined ? 0 : Math.min(deadPrefetch, Math.ceil(most / 10))
    const live = {
      queue,
      prefetch: Math.max(most - dead, 1),
      toDelivery: (each: AmqpMessage) => toLive(each, report),
      // A single active consumer has no others to leave messages to.
      ...(appetite !== undefined && !inOrder && { wanted: appetite.now }),
    }
    if (deadLetterQueue === undefined) return [live]
    const deadShape = { ...shape, source: `rabbitmq:${deadLetterQueue}` }
    return [
      live,
      { queue: deadLetterQueue, prefetch: dead, toDelivery: (each: AmqpMessage) => toDeadDelivery(each, deadShape) },
    ]
  }

  let mayRenew = true
  const keepBound = async (connection: AmqpConnection, life: ChannelLife, { report }: Reading): Promise<void> => {
    if (declare?.bindings === undefined || !mayRenew) return
    mayRenew = await renewBindings(connection, life, options, { clock, notice: report, whyLost: incoming.whyLost })
  }

  const subscribe = async (reading: Reading): Promise<ChannelLife> => {
    const { connection, channel } = await incoming.open((opened) => opened.createChannel())
    const life = new ChannelLife(channel, { clock, inOrder, whyLost: incoming.whyLost })
    lives.add(life)
    try {
      await declareTopology(channel, options)
      const [live, dead] = subscriptions(reading)
      await life.subscribe(live)
      if (dead !== undefined) await subscribeWhenThere(connection, life, dead, { clock, notice: reading.report })
      sayDropping(reading.report)
      void keepBound(connection, life, reading).catch(onError)
      return life
    } catch (error) {
      await life.close()
      throw error
    }
  }

  const open = async (wanted: Reading, signal: AbortSignal): Promise<ChannelLife> => {
    for (const each of lives) if (each.hasEnded) lives.delete(each)
    const opening = subscribe(wanted)
    try {
      const opened = await inTime(opening, { clock, withinMs: setupMs, signal })
      if (opened !== undefined) return opened
      void opening.then((late) => late.close()).catch(() => {})
      throw new Error(`no answer within ${setupMs} ms`)
    } catch (error) {
      throw brokerError(error, `The queue ${JSON.stringify(queue)} cannot be read`)
    }
  }

  let isRead = false
  let mayAsk = true
  /** `undefined` for a queue that is only published to, and if the broker does not allow the question. */
  const waiting = async (): Promise<number | undefined> => {
    if (!isRead || !mayAsk) return undefined
    const life = [...lives].find(({ isReading }) => isReading)
    if (life === undefined) throw new JustonceError('BROKER_UNREACHABLE', { message: `${source} is not being read.` })
    try {
      return await life.waitingIn(queue)
    } catch (error) {
      // It has cost the channel, and everything unsettled is delivered again. A missing queue would have cost it anyway.
      mayAsk = replyCode(error) !== accessRefused
      throw error
    }
  }

  const publisher = newPublisher({
    link: outgoing,
    rules: { queue, source, publishTo: options.publishTo, maxMessageBytes: options.maxMessageBytes ?? 16_777_216 },
    clock,
    confirmTimeoutMs: options.confirmTimeoutMs ?? 30_000,
    prepare: (channel) => declareTopology(channel, options),
  })

  return {
    name: source,
    destination: options.publishTo === undefined ? source : destinationOf(options.publishTo),
    capabilities: {
      order: inOrder ? 'lane' : 'none',
      deliveryCount: queueType === 'quorum' ? 'count' : 'flag',
    },
    // RabbitMQ closes a channel if a message is unsettled for longer, so those not started are given back before that.
    inFlight: { ageMs: (options.consumerTimeoutMs ?? 1_800_000) / 2 },
    async *deliveries({ signal: wanted, maxInFlight, appetite, connected, notice }) {
      const report = (error: JustonceError): void => {
        notice?.(error)
        onError(error)
      }
      sayDropping(report)
      isRead = true
      const signal = AbortSignal.any([wanted, closing.signal])
      const stopHearing = appetite?.onGrown(() => {
        for (const life of lives) life.adjust()
      })
      try {
        const reading = { maxInFlight, appetite, report }
        const opening = {
          clock,
          open: (until: AbortSignal) => open(reading, until),
          connected: connected ?? (() => {}),
        }
        yield* readQueue({ ...opening, onError, notice: report }, signal)
      } finally {
        stopHearing?.()
      }
    },
    async settle(deliveries, { kind }) {
      const receipts = deliveries.map(({ receipt }) => receipt as Receipt)
      for (const [life, given] of Map.groupBy(receipts, (receipt) => receipt.life)) {
        const messages = given.map(({ message }) => message)
        if (kind === 'done') life.acknowledge(messages)
        else life.release(messages)
      }
    },
    publish: (messages) => publisher.publish(messages),
    async inspect() {
      const found = setupWarnings(options, incoming.version() ?? outgoing.version())
      const warnings = found.map(({ code, message }) => ({ code, message }))
      return { waiting: await waiting(), warnings }
    },
    async close() {
      closing.abort()
      closing = new AbortController()
      const reading = Promise.all([...lives].map((life) => life.close()))
      lives.clear()
      await Promise.all([reading.then(() => incoming.close()), publisher.close().then(() => outgoing.close())])
    },
  }
}
