import * as client from '@platformatic/kafka'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { kafkaPublisher } from '../../src/transports/kafka/index.ts'
import { requireServer } from '../servers/require.ts'
import { type KafkaTopic, openTopic } from './open-kafka.ts'
import { onProduceRequest, type ProduceRequest } from './produce-requests.ts'

vi.setConfig({ testTimeout: 60_000 })
const kafka = await requireServer('kafka')

describe.skipIf(!kafka.available)('what the broker is told so that it drops copies', () => {
  let topic: KafkaTopic
  beforeEach(async () => {
    topic = await openTopic(kafka.url, { partitions: 1 })
  })
  afterEach(() => topic.close())

  const open = () => {
    const publisher = kafkaPublisher({ kafka: client, bootstrapServers: topic.address, topic: topic.name })
    onTestFinished(() => publisher.close())
    return publisher
  }
  const message = (id: string) => ({ id, type: 'note', body: Buffer.from('{}'), headers: {}, sentAt: new Date() })
  const recordsInTopic = () =>
    topic.admin(async (admin) => {
      const [found] = await admin.listOffsets({
        topics: [{ name: topic.name, partitions: [{ partitionIndex: 0, timestamp: -1n }] }],
      })
      return Number(found?.partitions[0]?.offset)
    })

  test('each batch has the id of its producer and the next number, and all replicas must have it', async () => {
    const seen: ProduceRequest[] = []
    const publisher = open()
    onProduceRequest(Number(new URL(kafka.url).port), (request) => seen.push(request))
    await publisher.publish([message('m1'), message('m2')])
    await publisher.publish([message('m3')])
    expect(seen.map(({ acks, sequence }) => ({ acks, sequence }))).toEqual([
      { acks: -1, sequence: 0 },
      { acks: -1, sequence: 2 },
    ])
    expect(seen[0]?.producerId).toBeGreaterThanOrEqual(0n)
    expect(seen[1]?.producerId).toBe(seen[0]?.producerId)
  })

  test('a batch whose answer was lost is sent again under the same number, and the topic has it once', async () => {
    const seen: ProduceRequest[] = []
    const publisher = open()
    onProduceRequest(Number(new URL(kafka.url).port), (request) => {
      seen.push(request)
      if (seen.length > 1) return
      // The answer stays unread until the broker has certainly stored the batch.
      request.socket.pause()
      void vi
        .waitFor(async () => expect(await recordsInTopic()).toBe(1), { timeout: 20_000 })
        .finally(() => request.socket.destroy())
    })
    const results = await publisher.publish([message('m1')])
    expect(results).toEqual([{ kind: 'sent' }])
    const numbers = seen.map(({ producerId, epoch, sequence }) => ({ producerId, epoch, sequence }))
    expect(numbers).toEqual([numbers[0], numbers[0]])
    expect(await recordsInTopic()).toBe(1)
  })
})
