import * as client from '@platformatic/kafka'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { idsOf, outgoingList } from '../../src/testing/reading.ts'
import { kafkaPublisher, kafkaTransport } from '../../src/transports/kafka/index.ts'
import { type KafkaServer, startKafka } from '../servers/kafka.ts'
import { requireServer } from '../servers/require.ts'
import { readingOf } from './reading-of.ts'

const kafka = await requireServer('kafka')

/** Each leader is in another rack than the reader, which has two brokers in its own. */
describe.skipIf(!kafka.available)('a cluster in racks', () => {
  const brokers: KafkaServer[] = []
  const settings = { 'replica.selector.class': 'org.apache.kafka.common.replica.RackAwareReplicaSelector' }
  beforeAll(async () => {
    const first = await startKafka({ settings: { ...settings, 'broker.rack': 'far' } })
    brokers.push(first)
    for (const id of [2, 3])
      brokers.push(await startKafka({ settings: { ...settings, 'broker.rack': 'near', 'node.id': id }, beside: first }))
  }, 120_000)
  afterAll(() => Promise.all(brokers.map((broker) => broker.stop())))

  test('partitions whose nearest replicas are on different brokers are all read', async () => {
    const bootstrapServers = brokers.map(({ address }) => address)
    const admin = new client.Admin({ clientId: 'justonce-tests', bootstrapBrokers: bootstrapServers, retries: 10 })
    onTestFinished(() => admin.close())
    const assignments = [2, 3, 2, 3].map((near, partition) => ({ partition, brokers: [1, near] }))
    await admin.createTopics({ topics: ['notes'], partitions: -1, replicas: -1, assignments })
    const publisher = kafkaPublisher({ kafka: client, bootstrapServers, topic: 'notes' })
    onTestFinished(() => publisher.close())
    const messages = outgoingList(40)
    await publisher.publish(messages)
    const clientOptions = { clientRack: 'near' }
    const transport = kafkaTransport({ kafka: client, bootstrapServers, topics: ['notes'], group: 'g', clientOptions })
    onTestFinished(() => transport.close())
    const taken = await readingOf(transport).take(40)
    expect(idsOf(taken).toSorted()).toEqual(messages.map(({ id }) => id).toSorted())
  }, 60_000)
})
