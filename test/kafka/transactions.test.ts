import * as client from '@platformatic/kafka'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { idsOf } from '../../src/testing/reading.ts'
import { requireServer } from '../servers/require.ts'
import { type KafkaTopic, openTopic } from './open-kafka.ts'
import { eventIn, sendRaw } from './raw-records.ts'
import { readingOf } from './reading-of.ts'

vi.setConfig({ testTimeout: 60_000 })
const kafka = await requireServer('kafka')

describe.skipIf(!kafka.available)('a producer with transactions', () => {
  let topic: KafkaTopic
  beforeEach(async () => {
    topic = await openTopic(kafka.url, { partitions: 1 })
  })
  afterEach(() => topic.close())

  const openProducer = () => {
    const producer = new client.Producer<Buffer, Buffer, Buffer, Buffer>({
      clientId: 'another-program',
      bootstrapBrokers: [topic.address],
      idempotent: true,
      transactionalId: topic.name,
      retries: 2,
    })
    onTestFinished(() => producer.close())
    return producer
  }
  const messages = (ids: readonly string[], bytes = 2) =>
    ids.map((id) => ({
      topic: topic.name,
      partition: 0,
      value: Buffer.alloc(bytes, ' '),
      headers: new Map([[Buffer.from('ce_id'), Buffer.from(id)]]),
    }))

  // The markers of both rollbacks come in one answer, and the second has no records that it could be about.
  test('what it commits between two rollbacks is delivered, also if nothing was written in the second', async () => {
    const producer = openProducer()
    const first = await producer.beginTransaction()
    await first.send({ messages: messages(['rolled-back']) })
    await first.abort()
    const second = await producer.beginTransaction()
    await second.send({ messages: messages(['m1', 'm2']) })
    await second.commit()
    const third = await producer.beginTransaction()
    await expect(third.send({ messages: messages(['too-large'], 2_000_000) })).rejects.toThrow()
    await third.abort()
    await sendRaw(topic, [eventIn(0, 'last')])
    const reading = readingOf(topic.connect())
    const ids: (string | undefined)[] = []
    while (!ids.includes('last')) ids.push(...idsOf(await reading.take(1)))
    expect(ids).toEqual(['m1', 'm2', 'last'])
  })
})
