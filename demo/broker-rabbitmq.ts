import * as client from 'amqplib'
import { rabbitmqTransport } from '../src/transports/rabbitmq/index.ts'
import type { Broker, BrokerPlace } from './broker.ts'

export async function openRabbitmqBroker(place: Extract<BrokerPlace, { kind: 'rabbitmq' }>): Promise<Broker> {
  const { url, queue } = place
  const transport = rabbitmqTransport({ client, url, queue, declare: { type: 'quorum' } })
  const counting = openCounter(place)
  return {
    transport,
    async create() {
      await (await counting()).assertQueue(queue, { durable: true, arguments: { 'x-queue-type': 'quorum' } })
    },
    async countUnsettled(heldByWorkers) {
      const channel = await counting()
      const { messageCount } = await channel.checkQueue(queue)
      if (messageCount + heldByWorkers > 0) return messageCount + heldByWorkers
      // A figure may be a moment old. Taking one is in order with everything that was given back before.
      const left = await channel.get(queue)
      if (left === false) return 0
      channel.nack(left)
      return 1
    },
    async close() {
      await counting.close()
      await transport.close()
    },
  }
}

/** Opened only when somebody counts: workers do not. */
function openCounter({ url }: { readonly url: string }) {
  let opening: Promise<{ connection: client.ChannelModel; channel: client.Channel }> | undefined
  const open = async () => {
    const connection = await client.connect(url)
    // The next count sees that it has failed.
    connection.on('error', () => {})
    return { connection, channel: await connection.createChannel() }
  }
  const counting = async (): Promise<client.Channel> => {
    opening ??= open()
    return (await opening).channel
  }
  return Object.assign(counting, {
    async close() {
      await (await opening)?.connection.close()
    },
  })
}
