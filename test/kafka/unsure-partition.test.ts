import * as kafkaClient from '@platformatic/kafka'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { TransportNotice } from '../../src/contracts/index.ts'
import { outgoingList } from '../../src/testing/reading.ts'
import type { KafkaConsumer } from '../../src/transports/kafka/client-shapes.ts'
import { kafkaTransport } from '../../src/transports/kafka/index.ts'
import { requireServer } from '../servers/require.ts'
import { type KafkaTopic, openTopic } from './open-kafka.ts'
import { idsSettled, readingOf } from './reading-of.ts'

vi.setConfig({ testTimeout: 90_000 })
const kafka = await requireServer('kafka')
const patience = { timeout: 60_000 }

describe.skipIf(!kafka.available)('a partition of which the broker says that its log was cut, and then nothing', () => {
  let cut: KafkaTopic
  let other: KafkaTopic
  beforeEach(async () => {
    cut = await openTopic(kafka.url, { partitions: 1 })
    other = await openTopic(kafka.url, { partitions: 1 })
  })
  afterEach(() => Promise.all([cut.close(), other.close()]))

  /** Until it is repaired, one topic is said to be cut, and questions about it alone have the given answer. */
  const open = (answer: (consumer: KafkaConsumer) => Promise<never>) => {
    const state = { isRepaired: false, asked: 0 }
    let cutId: string | undefined
    class UnsureConsumer extends kafkaClient.Consumer<Buffer, Buffer, Buffer, Buffer> {
      constructor(options: kafkaClient.ConsumerOptions<Buffer, Buffer, Buffer, Buffer>) {
        super(options)
        const client = this as unknown as KafkaConsumer
        const { fetch, metadata } = client
        let isCut = false
        client.fetch = async (request) => {
          const response = await fetch.call(this, request)
          for (const { partitions } of response.responses.filter(({ topicId }) => topicId === cutId)) {
            isCut = !state.isRepaired
            if (isCut)
              for (const each of partitions) Object.assign(each, { divergingEpoch: { epoch: 0, endOffset: 1n } })
          }
          return response
        }
        client.metadata = async (request) => {
          if (isCut && request.topics.join() === cut.name) {
            state.asked++
            return answer(client)
          }
          const found = await metadata.call(this, request)
          cutId ??= found.topics.get(cut.name)?.id
          return found
        }
      }
    }
    const errors: unknown[] = []
    const notices: TransportNotice[] = []
    const transport = kafkaTransport({
      kafka: { ...kafkaClient, Consumer: UnsureConsumer },
      bootstrapServers: cut.address,
      topics: [cut.name, other.name],
      group: cut.group,
      onError: (error) => errors.push(error),
    })
    onTestFinished(() => transport.close())
    const seen = idsSettled(transport, readingOf(transport, { notice: (notice) => notices.push(notice) }))
    return { transport, state, errors, seen, codes: () => notices.map(({ code }) => code) }
  }

  test('it waits apart, says so, and the others are read on', async () => {
    await cut.connect().publish(outgoingList(3))
    const { state, seen, codes } = open(async () => {
      throw new Error('nobody knows')
    })
    await vi.waitFor(() => expect(codes()).toContain('PARTITION_UNREADABLE'), patience)
    await other.connect().publish(outgoingList(5).slice(3))
    await vi.waitFor(() => expect(seen).toEqual(['m4', 'm5']), patience)
    state.isRepaired = true
    await vi.waitFor(() => expect([...seen].sort()).toEqual(['m1', 'm2', 'm3', 'm4', 'm5']), patience)
  })

  test('closing meanwhile is no error', async () => {
    const { transport, state, errors } = open(
      (consumer) =>
        new Promise((_, reject) => {
          const { close } = consumer
          consumer.close = (...args) => {
            reject(new Error('closed meanwhile'))
            return close.apply(consumer, args)
          }
        }),
    )
    await vi.waitFor(() => expect(state.asked).toBe(1), patience)
    await transport.close()
    expect(errors.map(String)).not.toContainEqual(expect.stringContaining('closed meanwhile'))
  })
})
