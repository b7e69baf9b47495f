import type { ChannelModel } from 'amqplib'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { TransportNotice } from '../../src/driver.ts'
import { type RabbitmqTransportOptions, rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'
import { requireServer } from '../servers/require.ts'
import { connectClaiming, queueName, withChannel } from './connect.ts'

const rabbitmq = await requireServer('rabbitmq')

/** What is said when reading begins; there is no broker, and none is needed for that. */
async function noticesOf(changes: object): Promise<readonly string[]> {
  const notices: TransportNotice[] = []
  const connect = () => Promise.reject(new Error('there is no broker here'))
  const transport = rabbitmqTransport({ connect, queue: 'notes', ...changes })
  const reading = { signal: new AbortController().signal, maxInFlight: 1, notice: notices.push.bind(notices) }
  await transport
    .deliveries(reading)
    [Symbol.asyncIterator]()
    .next()
    .catch(() => {})
  await transport.close()
  return notices.map(({ code }) => code)
}

test('a delivery limit without a place for what is given up is said when reading begins', async () => {
  expect(await noticesOf({ declare: { deliveryLimit: 5 } })).toEqual(['MESSAGES_MAY_BE_DROPPED'])
  expect(await noticesOf({ declare: { arguments: { 'x-delivery-limit': 5 } } })).toEqual(['MESSAGES_MAY_BE_DROPPED'])
})

test('a delivery limit and a dead-letter exchange that leads back to the queue is said as well: the broker drops what goes in a circle', async () => {
  const back = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'notes' }
  expect(await noticesOf({ declare: { deliveryLimit: 5, arguments: back } })).toEqual(['MESSAGES_MAY_BE_DROPPED'])
  // It keeps its routing key, which is the name of the queue or of no queue at all.
  const unchanged = { 'x-dead-letter-exchange': '' }
  expect(await noticesOf({ declare: { deliveryLimit: 5, arguments: unchanged } })).toEqual(['MESSAGES_MAY_BE_DROPPED'])
  const elsewhere = { ...back, 'x-dead-letter-routing-key': 'others' }
  expect(await noticesOf({ declare: { deliveryLimit: 5, arguments: elsewhere } })).toEqual([])
})

test.skipIf(!rabbitmq.available)('a message that reaches its limit in such a circle is gone', async () => {
  const queue = queueName()
  await withChannel(rabbitmq.url, async (channel) => {
    const back = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': queue }
    await channel.assertQueue(queue, { arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': 1, ...back } })
    const taken: unknown[] = []
    await channel.consume(queue, (message) => {
      if (message === null) return
      taken.push(message.properties.messageId)
      channel.nack(message)
    })
    for (const messageId of ['m1', 'm2']) {
      channel.publish('', queue, Buffer.from('{}'), { messageId, mandatory: true })
      await channel.waitForConfirms()
      await vi.waitFor(() => expect(taken.filter((each) => each === messageId)).toHaveLength(2), { timeout: 10_000 })
    }
    expect(taken).toEqual(['m1', 'm1', 'm2', 'm2'])
    expect(await channel.deleteQueue(queue)).toEqual({ messageCount: 0 })
  })
})

test.skipIf(!rabbitmq.available)(
  'the limit of RabbitMQ 4 is said once, when it is connected (a server that only claims to be it)',
  async () => {
    const opened: ChannelModel[] = []
    const connect = async () => {
      const connection = await connectClaiming(rabbitmq.url, '4.1.0')
      opened.push(connection)
      return connection
    }
    const queue = queueName()
    const transport = rabbitmqTransport({ connect, queue, declare: {} } as unknown as RabbitmqTransportOptions)
    const notices: TransportNotice[] = []
    let connected = 0
    const ending = new AbortController()
    const reading = transport.deliveries({
      ...{ signal: ending.signal, maxInFlight: 1, notice: notices.push.bind(notices) },
      connected: () => void connected++,
    })
    const first = reading[Symbol.asyncIterator]().next()
    onTestFinished(async () => {
      ending.abort()
      await first
      await transport.close()
      await withChannel(rabbitmq.url, (channel) => channel.deleteQueue(queue))
    })
    const dropped = () => notices.filter(({ code }) => code === 'MESSAGES_MAY_BE_DROPPED')
    await vi.waitFor(() => expect(connected).toBe(1), { timeout: 10_000 })
    expect(dropped()).toMatchObject([
      { message: expect.stringMatching(/no dead-letter exchange, and RabbitMQ 4\.1\.0 .* 20/) },
    ])
    await opened[0]?.close()
    await vi.waitFor(() => expect(connected).toBe(2), { timeout: 10_000 })
    expect(dropped()).toHaveLength(1)
  },
)

test('with a dead-letter queue or exchange, without a limit, or undeclared there is nothing to say', async () => {
  expect(await noticesOf({ declare: { deliveryLimit: 5 }, deadLetterQueue: 'notes-dead' })).toEqual([])
  expect(await noticesOf({ declare: { deliveryLimit: 5, arguments: { 'x-dead-letter-exchange': 'x' } } })).toEqual([])
  expect(await noticesOf({ declare: {} })).toEqual([])
  expect(await noticesOf({})).toEqual([])
})

test('what was not begun goes back before the broker would close the channel', () => {
  const connect = () => Promise.reject(new Error('there is no broker here'))
  expect(rabbitmqTransport({ connect, queue: 'notes' }).inFlight).toEqual({ ageMs: 900_000 })
  expect(rabbitmqTransport({ connect, queue: 'notes', consumerTimeoutMs: 60_000 }).inFlight).toEqual({ ageMs: 30_000 })
})
