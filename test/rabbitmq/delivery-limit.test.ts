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
