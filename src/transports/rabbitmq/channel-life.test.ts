import { expect, test } from 'vitest'
import { systemClock } from '../../clock/index.ts'
import { ChannelLife } from './channel-life.ts'
import type { AmqpChannel } from './client-shapes.ts'
import { toDelivery } from './to-delivery.ts'

/** As a broker does: a consumer gets the prefetch that was set last. */
function recordingChannel() {
  const begun: string[] = []
  let prefetch = 0
  const channel: Partial<AmqpChannel> = {
    on: () => {},
    async prefetch(count) {
      prefetch = count
    },
    async consume(queue) {
      begun.push(`${queue}: ${prefetch}`)
      return { consumerTag: String(begun.length) }
    },
  }
  return { channel: channel as AmqpChannel, begun }
}

test('consumers that are begun at the same time each get their own prefetch', async () => {
  const { channel, begun } = recordingChannel()
  const options = { clock: systemClock, inOrder: false, whyLost: () => undefined }
  const life = new ChannelLife(channel, options)
  const shape = { source: 'rabbitmq:notes', inOrder: false, routingKeyAsType: false }
  const subscription = { toDelivery: (message: Parameters<typeof toDelivery>[0]) => toDelivery(message, shape) }
  await Promise.all([
    life.subscribe({ ...subscription, queue: 'notes', prefetch: 90 }),
    life.subscribe({ ...subscription, queue: 'dead', prefetch: 10 }),
  ])
  expect(begun).toEqual(['notes: 90', 'dead: 10'])
})
