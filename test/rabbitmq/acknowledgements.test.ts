import * as client from 'amqplib'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Transport } from '../../src/contracts/index.ts'
import { idsOf, outgoing, startReading } from '../../src/testing/reading.ts'
import { rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'
import { requireServer } from '../servers/require.ts'
import { queueName } from './connect.ts'

const rabbitmq = await requireServer('rabbitmq')

describe.skipIf(!rabbitmq.available)('acknowledgements that wait for what is before them', () => {
  function connect(queue: string): Transport {
    const transport = rabbitmqTransport({ client, url: rabbitmq.url, queue, declare: { type: 'quorum' } })
    onTestFinished(() => transport.close())
    return transport
  }
  const read = (transport: Transport, maxInFlight: number) =>
    startReading({ connect: async () => transport, close: async () => {} }, transport, maxInFlight)
  const sent = (count: number) => Array.from({ length: count }, (_, index) => outgoing(`m${index + 1}`))

  test('one that takes long does not keep the others from making room', async () => {
    const transport = connect(queueName())
    await transport.publish(sent(12))
    const reading = read(transport, 10)
    const taken = await reading.take(10)
    // Few enough to wait, and the first is never settled.
    await transport.settle(taken.slice(8), { kind: 'done' })
    expect(idsOf(await reading.take(2))).toEqual(['m11', 'm12'])
  })

  test('what waits is acknowledged before the connection is closed, and does not come again', async () => {
    const queue = queueName()
    const first = connect(queue)
    await first.publish(sent(4))
    const taken = await read(first, 100).take(4)
    await first.settle(taken.slice(1, 3), { kind: 'done' })
    await first.close()
    const left = await read(connect(queue), 100).take(2)
    expect(idsOf(left).toSorted()).toEqual(['m1', 'm4'])
  })
})
