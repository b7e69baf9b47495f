import * as client from '@platformatic/kafka'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { OutgoingMessage } from '../../src/contracts/index.ts'
import { isJustonceError } from '../../src/errors/index.ts'
import { type KafkaPublisherOptions, kafkaPublisher } from '../../src/transports/kafka/index.ts'
import { requireServer } from '../servers/require.ts'
import { type KafkaTopic, openTopic } from './open-kafka.ts'

vi.setConfig({ testTimeout: 90_000 })
const kafka = await requireServer('kafka')

const message = (id: string, more: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  ...{ id, type: 'good', body: new Uint8Array(2), headers: {}, sentAt: new Date() },
  ...more,
})

describe.skipIf(!kafka.available)('what is published to Kafka', () => {
  let topic: KafkaTopic
  beforeEach(async () => {
    topic = await openTopic(kafka.url, {
      partitions: 1,
      configs: { 'message.timestamp.after.max.ms': '3600000', 'message.timestamp.before.max.ms': '3600000' },
    })
  })
  afterEach(() => topic.close())

  const publisher = (to: KafkaPublisherOptions['topic']) => {
    const opened = kafkaPublisher({ kafka: client, bootstrapServers: topic.address, topic: to })
    onTestFinished(() => opened.close())
    return opened
  }

  test.each([
    ['does not exist', () => 'there-is-no-such-topic'],
    ['has no name that a topic can have', () => 'notes / created'],
    ['has the name of a folder', () => '..'],
    ['is no text', () => undefined as unknown as string],
    [
      'cannot be determined',
      () => {
        throw new Error('no topic for this one')
      },
    ],
  ])('is refused alone if its topic %s', async (_, topicOfBad) => {
    const to = publisher(({ type }) => (type === 'bad' ? topicOfBad() : topic.name))
    const results = await to.publish([
      message('a1', { key: 'a' }),
      message('a2', { key: 'a', type: 'bad' }),
      message('a3', { key: 'a' }),
      message('b1', { type: 'bad' }),
      message('c1'),
    ])
    expect(results.map(({ kind }) => kind)).toEqual(['sent', 'refused', 'held', 'refused', 'sent'])
  })

  test('waits as a whole while its only topic does not exist', async () => {
    const error = await publisher('there-is-no-such-topic')
      .publish([message('a')])
      .then(undefined, (reason) => reason)
    expect(isJustonceError(error, 'BROKER_SETUP')).toBe(true)
  })

  test('is taken however far from the time of the broker it was made', async () => {
    const hours = 3_600_000
    const results = await publisher(topic.name).publish([
      message('by a clock that is ahead', { sentAt: new Date(Date.now() + 48 * hours) }),
      message('before an outage', { sentAt: new Date(Date.now() - 48 * hours) }),
      message('now'),
    ])
    expect(results.map(({ kind }) => kind)).toEqual(['sent', 'sent', 'sent'])
  })
})
