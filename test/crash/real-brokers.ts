import { Admin } from '@platformatic/kafka'
import * as client from 'amqplib'
import { rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'
import { lagOf } from '../kafka/effects-world.ts'
import { openTopic } from '../kafka/open-kafka.ts'
import { queueName, withChannel } from '../rabbitmq/connect.ts'
import type { Broker } from './brokers.ts'
import type { KafkaAddress } from './fixtures/consumer-config.ts'

/** How long the partitions of a dead or frozen process stay with it. */
export const sessionTimeoutMs = 1_000

/** A topic of its own on a real Kafka. */
export async function kafkaBroker(
  url: string,
  { dedup, partitions = 1 }: { readonly dedup: KafkaAddress['dedup']; readonly partitions?: number },
): Promise<Broker> {
  const topic = await openTopic(url, { partitions })
  const producer = topic.connect()
  const admin = new Admin({ clientId: 'justonce-tests', bootstrapBrokers: [topic.address] })
  const { name, group, address: bootstrapServers } = topic
  return {
    address: { kind: 'kafka', bootstrapServers, topic: name, group, dedup, sessionTimeoutMs },
    // What was sent long ago by its own account would soon be removed by the topic's retention.
    publish: async (messages) =>
      void (await producer.publish(messages.map((message) => ({ ...message, sentAt: new Date() })))),
    left: async () => Number(await lagOf(admin, topic)),
    isFree: () => true,
    async [Symbol.asyncDispose]() {
      await admin.close()
      await topic.close()
    },
  }
}

/** A quorum queue of its own on a real RabbitMQ. */
export async function rabbitmqBroker(url: string): Promise<Broker> {
  const queue = queueName()
  const producer = rabbitmqTransport({ client, url, queue, declare: { type: 'quorum' } })
  return {
    address: { kind: 'rabbitmq', url, queue },
    publish: async (messages) => void (await producer.publish(messages)),
    // What is with a consumer is not counted: it is there again when that has stopped.
    left: () => withChannel(url, async (channel) => (await channel.checkQueue(queue)).messageCount),
    isFree: () => true,
    async [Symbol.asyncDispose]() {
      await producer.close()
      await withChannel(url, (channel) => channel.deleteQueue(queue))
    },
  }
}
