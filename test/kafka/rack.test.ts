import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as client from '@platformatic/kafka'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
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
    // It removes nothing while the tests run; the others look every second.
    const far = { 'broker.rack': 'far', 'log.initial.task.delay.ms': 3_600_000 }
    const first = await startKafka({ settings: { ...settings, ...far } })
    brokers.push(first)
    const removing = { 'log.initial.task.delay.ms': 1_000, 'log.retention.check.interval.ms': 1_000 }
    for (const id of [2, 3]) {
      const near = { 'broker.rack': 'near', 'node.id': id, ...removing }
      brokers.push(await startKafka({ settings: { ...settings, ...near }, beside: first }))
    }
  }, 120_000)
  afterAll(() => Promise.all(brokers.map((broker) => broker.stop())))

  const bootstrapServers = () => brokers.map(({ address }) => address)
  const openAdmin = () => {
    const admin = new client.Admin({ clientId: 'justonce-tests', bootstrapBrokers: bootstrapServers(), retries: 10 })
    onTestFinished(() => admin.close())
    return admin
  }
  const openTransport = (topic: string, onError?: (error: unknown) => void) => {
    const transport = kafkaTransport({
      kafka: client,
      bootstrapServers: bootstrapServers(),
      topics: [topic],
      group: `g-${topic}`,
      clientOptions: { clientRack: 'near' },
      maxBytesPerPartition: 1,
      onError,
    })
    onTestFinished(() => transport.close())
    return transport
  }
  const openPublisher = (topic: string) => {
    const publisher = kafkaPublisher({ kafka: client, bootstrapServers: bootstrapServers(), topic })
    onTestFinished(() => publisher.close())
    return publisher
  }

  test('partitions whose nearest replicas are on different brokers are all read', async () => {
    const assignments = [2, 3, 2, 3].map((near, partition) => ({ partition, brokers: [1, near] }))
    await openAdmin().createTopics({ topics: ['notes'], partitions: -1, replicas: -1, assignments })
    const messages = outgoingList(40)
    await openPublisher('notes').publish(messages)
    const taken = await readingOf(openTransport('notes')).take(40)
    expect(idsOf(taken).toSorted()).toEqual(messages.map(({ id }) => id).toSorted())
  }, 60_000)

  test('what a replica has removed before its leader did is read from the leader, and nothing again', async () => {
    const [topic, near] = ['removed-early', brokers[1] as KafkaServer]
    const admin = openAdmin()
    await admin.createTopics({
      topics: [topic],
      partitions: -1,
      replicas: -1,
      assignments: [{ partition: 0, brokers: [1, 2] }],
      configs: [{ name: 'segment.bytes', value: '1000' }],
    })
    const messages = outgoingList(40)
    const publisher = openPublisher(topic)
    for (const message of messages) await publisher.publish([message])
    const errors: unknown[] = []
    const transport = openTransport(topic, (error) => errors.push(error))
    const reading = readingOf(transport, { maxInFlight: 2 })
    const taken = [...(await reading.take(2))]
    const set = { name: 'retention.ms', configOperation: 0, value: '1' } as const
    await admin.incrementalAlterConfigs({ resources: [{ resourceType: 2, resourceName: topic, configs: [set] }] })
    const files = () => readdirSync(join(near.folder, 'data', `${topic}-0`)).filter((name) => name.endsWith('.log'))
    await vi.waitFor(() => expect(files().length).toBe(1), { timeout: 10_000, interval: 100 })
    while (taken.length < 40) {
      await transport.settle(taken.slice(-2), { kind: 'done' })
      taken.push(...(await reading.take(2)))
    }
    expect(idsOf(taken)).toEqual(messages.map(({ id }) => id))
    expect(errors.map(String).filter((error) => error.includes('does not exist'))).toEqual([])
  }, 40_000)
})
