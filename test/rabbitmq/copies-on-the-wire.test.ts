import * as client from 'amqplib'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Publisher } from '../../src/contracts/index.ts'
import { justonce } from '../../src/index.ts'
import { memoryStore } from '../../src/memory.ts'
import { rabbitmqPublisher } from '../../src/transports/rabbitmq/index.ts'
import { requireServer } from '../servers/require.ts'
import { queueName, withChannel } from './connect.ts'

const rabbitmq = await requireServer('rabbitmq')

/** The broker gets what is published, but the first answer does not come back. */
function withALostAnswer(publisher: Publisher): Publisher {
  let isLost = false
  return {
    ...publisher,
    async publish(messages) {
      const results = await publisher.publish(messages)
      if (isLost) return results
      isLost = true
      throw new Error('the answer was lost')
    },
  }
}

describe.skipIf(!rabbitmq.available)('copies that a relay sends to RabbitMQ', () => {
  test('any program recognises them by the message id', async () => {
    const queue = queueName('copies')
    await withChannel(rabbitmq.url, (channel) =>
      channel.assertQueue(queue, { arguments: { 'x-queue-type': 'quorum' } }),
    )
    onTestFinished(() => withChannel(rabbitmq.url, async (channel) => void (await channel.deleteQueue(queue))))
    const publisher = rabbitmqPublisher({ client, url: rabbitmq.url, exchange: '', routingKey: queue })
    const store = memoryStore()
    const app = justonce({ store, to: { copies: withALostAnswer(publisher) }, pollMs: 20, log: false })
    const relayed = Promise.withResolvers<void>()
    app.events.listen((event) => {
      if (event.kind === 'relayed' && event.sent === 1) relayed.resolve()
    })
    await app.start()
    onTestFinished(() => app.stop())
    const id = await store.transaction((tx) => app.publish('note.tagged', { note: 1 }, { tx }))
    await relayed.promise

    const copies = await withChannel(rabbitmq.url, async (channel) => {
      const got: client.GetMessage[] = []
      await vi.waitFor(
        async () => {
          const one = await channel.get(queue, { noAck: true })
          if (one !== false) got.push(one)
          expect(got).toHaveLength(2)
        },
        { timeout: 10_000 },
      )
      return got
    })
    const wire = copies.map(({ properties: { messageId, type, headers } }) => ({
      messageId,
      type,
      attribute: headers?.['cloudEvents:id'],
    }))
    const expected = { messageId: id, type: 'note.tagged', attribute: id }
    expect(wire).toEqual([expected, expected])
  })
})
