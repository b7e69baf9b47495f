import { randomUUID } from 'node:crypto'
import * as client from 'amqplib'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '../../src/clock/index.ts'
import type { Clock, Transport } from '../../src/contracts/index.ts'
import { idsOf, startReading } from '../../src/testing/reading.ts'
import { rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'
import { requireServer } from '../servers/require.ts'
import { queueName, withChannel } from './connect.ts'

const rabbitmq = await requireServer('rabbitmq')

/** Half minutes are short for it. */
const hurried: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 50), signal) }

describe.skipIf(!rabbitmq.available)('bindings of a queue that is being read', () => {
  const read = async (exchange: string) => {
    const errors: unknown[] = []
    const declare = { type: 'classic', bindings: [{ exchange, routingKey: '#' }] } as const
    const onError = (error: unknown): void => void errors.push(error)
    const transport: Transport = rabbitmqTransport({
      client,
      url: rabbitmq.url,
      queue: queueName(),
      declare,
      clock: hurried,
      onError,
    })
    const reading = startReading({ connect: async () => transport, close: async () => {} }, transport, 20)
    onTestFinished(async () => {
      await transport.close()
      await withChannel(rabbitmq.url, (channel) => channel.deleteExchange(exchange))
    })
    return { errors, reading }
  }

  /** Mandatory messages would come back: what no queue wants is sent again until it is taken. */
  const sendUntilTaken = async (exchange: string, id: string): Promise<void> => {
    const send = () =>
      withChannel(rabbitmq.url, async (channel) => {
        let isReturned = false
        channel.on('return', () => {
          isReturned = true
        })
        channel.publish(exchange, 'any', Buffer.from('{}'), { messageId: id, type: 'note.created', mandatory: true })
        await channel.waitForConfirms()
        expect(isReturned).toBe(false)
      })
    await vi.waitFor(send, { timeout: 20_000, interval: 100 })
  }

  const create = (exchange: string) =>
    withChannel(rabbitmq.url, (channel) => channel.assertExchange(exchange, 'topic', { durable: false }))
  const remove = (exchange: string) => withChannel(rabbitmq.url, (channel) => channel.deleteExchange(exchange))

  test('come back after somebody has made the exchange again, and its absence is said', async () => {
    const exchange = `events-${randomUUID()}`
    await create(exchange)
    const { errors, reading } = await read(exchange)
    // Nothing is read, and nothing bound, until it is asked for.
    const first = reading.take(1)
    await sendUntilTaken(exchange, 'm1')
    expect(idsOf(await first)).toEqual(['m1'])
    await remove(exchange)
    await vi.waitFor(() => expect(errors.map(String)).toEqual([expect.stringContaining('gets nothing from')]), {
      timeout: 20_000,
    })
    await create(exchange)
    await sendUntilTaken(exchange, 'm2')
    expect(idsOf(await reading.take(1))).toEqual(['m2'])
    expect(errors).toHaveLength(1)
  }, 60_000)
})
