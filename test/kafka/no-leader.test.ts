import * as client from '@platformatic/kafka'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Delivery, Transport, TransportNotice } from '../../src/contracts/index.ts'
import { outgoing } from '../../src/testing/reading.ts'
import { kafkaPublisher, kafkaTransport } from '../../src/transports/kafka/index.ts'
import { type KafkaServer, startKafka } from '../servers/kafka.ts'
import { requireBinaries } from '../servers/require.ts'
import { type KafkaTopic, openTopic } from './open-kafka.ts'
import { eventIn, sendRaw } from './raw-records.ts'
import { idsSettled, readingOf } from './reading-of.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })
const kafka = await requireBinaries('kafka')

describe.skipIf(!kafka.available)('a topic whose only replica is away', () => {
  const soon = { 'broker.session.timeout.ms': 6_000, 'broker.heartbeat.interval.ms': 1_000 }
  let first: KafkaServer
  let second: KafkaServer
  let kept: KafkaTopic
  const other = 'on-the-second-broker'
  beforeAll(async () => {
    first = await startKafka({ settings: soon })
    kept = await openTopic(first.url, { partitions: 1 })
    await sendTo(kept.name, 'a0')
    // What the brokers remember of groups is kept where the first group was joined: on the first of them.
    const transport = kept.connect()
    const [delivery] = await readUntil(transport, 1)
    await transport.settle([delivery as Delivery], { kind: 'done' })
    await transport.close()
    second = await startKafka({ settings: soon, beside: first })
    await kept.admin((admin) =>
      admin.createTopics({
        topics: [other],
        partitions: -1,
        replicas: -1,
        assignments: [{ partition: 0, brokers: [2] }],
      }),
    )
    await vi.waitFor(() => metadata(), { timeout: 30_000, interval: 200 })
  })
  afterAll(async () => {
    await kept?.close()
    await second?.stop()
    await first?.stop()
  })

  const readUntil = async (transport: Transport, count: number): Promise<readonly Delivery[]> => {
    const ending = new AbortController()
    const read: Delivery[] = []
    for await (const some of transport.deliveries({ maxInFlight: 10, signal: ending.signal })) {
      read.push(...some)
      if (read.length >= count) ending.abort()
    }
    return read
  }
  const metadata = () => kept.admin((admin) => admin.metadata({ topics: [other], forceUpdate: true }))
  const sendTo = (topic: string, id: string) =>
    vi.waitFor(() => sendRaw({ ...kept, name: topic }, [eventIn(0, id)]), { timeout: 60_000, interval: 200 })
  const loseLeader = async () => {
    await second.kill9()
    await vi.waitFor(() => expect(metadata()).rejects.toThrow(), { timeout: 60_000, interval: 200 })
  }

  test('stops neither reading nor publishing of others, and is read on when it is back', async () => {
    const notices: TransportNotice[] = []
    const bootstrapServers = [first.address, second.address]
    const transport = kafkaTransport({ kafka: client, bootstrapServers, topics: [kept.name, other], group: kept.group })
    const publisher = kafkaPublisher({ kafka: client, bootstrapServers, topic: ({ type }) => type })
    onTestFinished(async () => {
      await transport.close()
      await publisher.close()
    })
    const reading = readingOf(transport, { notice: (notice) => notices.push(notice) })
    const seen = idsSettled(transport, reading)
    const isSeen = (id: string) => vi.waitFor(() => expect(seen).toContain(id), { timeout: 90_000, interval: 100 })
    await sendTo(kept.name, 'a1')
    await sendTo(other, 'b1')
    await isSeen('a1')
    await isSeen('b1')

    await loseLeader()
    await sendTo(kept.name, 'a2')
    await isSeen('a2')
    expect(notices).toContainEqual(expect.objectContaining({ code: 'PARTITION_UNREADABLE' }))
    const results = await publisher.publish([outgoing('m1', { type: other }), outgoing('m2', { type: kept.name })])
    expect(results).toMatchObject([{ kind: 'refused', isPassing: true }, { kind: 'sent' }])

    await second.restart()
    await sendTo(other, 'b2')
    await isSeen('b2')
    expect(await publisher.publish([outgoing('m1', { type: other })])).toEqual([{ kind: 'sent' }])
  })
})
