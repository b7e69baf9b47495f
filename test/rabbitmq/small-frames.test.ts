import * as client from 'amqplib'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { rabbitmqPublisher } from '../../src/transports/rabbitmq/index.ts'
import { requireServer } from '../servers/require.ts'
import { queueName, withChannel } from './connect.ts'

vi.setConfig({ testTimeout: 60_000 })
const rabbitmq = await requireServer('rabbitmq')

const message = (id: string, headerBytes: number) => ({
  ...{ id, type: 'note.created', body: new Uint8Array(2), sentAt: new Date() },
  headers: { note: 'x'.repeat(headerBytes) },
})

describe.skipIf(!rabbitmq.available)('where frames are small', () => {
  let queue: string
  beforeEach(async () => {
    queue = queueName()
    await withChannel(rabbitmq.url, (channel) => channel.assertQueue(queue, { durable: true }))
    return async () => void (await withChannel(rabbitmq.url, (channel) => channel.deleteQueue(queue)))
  })

  test('headers that do not fit into one are refused, and stop no other message', async () => {
    // What older versions of the client ask for.
    const url = Object.assign(new URL(rabbitmq.url), { pathname: '/', search: '?frameMax=4096' }).href
    const publisher = rabbitmqPublisher({ client, url, exchange: '', routingKey: queue })
    onTestFinished(() => publisher.close())
    const sizes = Array.from({ length: 100 }, (_, index) => 3_200 + index * 10)
    const results = await publisher.publish([
      ...sizes.map((size) => message(`m-${size}`, size)),
      message('much too large', 50_000),
      message('small', 10),
    ])
    const sent = results.filter(({ kind }) => kind === 'sent').length - 1
    // Not much less than what fits.
    expect(sizes[sent]).toBeGreaterThan(3_600)
    expect(results.map(({ kind }) => kind)).toEqual([
      ...sizes.map((_, index) => (index < sent ? 'sent' : 'refused')),
      'refused',
      'sent',
    ])
  })
})
