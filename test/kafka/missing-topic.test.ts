import * as kafkaClient from '@platformatic/kafka'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { TransportNotice } from '../../src/contracts/index.ts'
import { idsOf } from '../../src/testing/reading.ts'
import { kafkaTransport } from '../../src/transports/kafka/index.ts'
import { requireServer } from '../servers/require.ts'
import { type ChosenOptions, type KafkaTopic, openTopic } from './open-kafka.ts'
import { eventIn, sendRaw } from './raw-records.ts'
import { readingOf } from './reading-of.ts'

vi.setConfig({ testTimeout: 90_000 })
const kafka = await requireServer('kafka')

describe.skipIf(!kafka.available)('one of two topics', () => {
  let kept: KafkaTopic
  let other: KafkaTopic
  beforeEach(async () => {
    kept = await openTopic(kafka.url, { partitions: 1 })
    other = await openTopic(kafka.url, { partitions: 1 })
  })
  afterEach(() => kept.close())

  const create = () => other.admin((admin) => admin.createTopics({ topics: [other.name], partitions: 1, replicas: 1 }))

  const openBoth = (options: ChosenOptions = {}) => {
    const notices: TransportNotice[] = []
    const transport = kafkaTransport({
      kafka: kafkaClient,
      bootstrapServers: kept.address,
      topics: [kept.name, other.name],
      group: kept.group,
      ...options,
    })
    const reading = readingOf(transport, { notice: (notice) => notices.push(notice) })
    const seen: (string | undefined)[] = []
    const ended = (async () => {
      for (;;) {
        const deliveries = await reading.take(1)
        seen.push(...idsOf(deliveries))
        await transport.settle(deliveries, { kind: 'done' }).catch(() => {})
      }
    })().catch((error: unknown) => error)
    return { transport, notices, seen, ended }
  }

  test('is deleted: the other is read on, it is said, and what is made again is read', async () => {
    const { transport, notices, seen } = openBoth()
    await sendRaw(kept, [eventIn(0, 'a1')])
    await sendRaw(other, [eventIn(0, 'b1')])
    await vi.waitFor(() => expect(seen).toEqual(expect.arrayContaining(['a1', 'b1'])), { timeout: 30_000 })
    await other.remove()
    await vi.waitFor(() => expect(notices.map(({ code }) => code)).toContain('TOPIC_MISSING'), { timeout: 40_000 })
    await sendRaw(kept, [eventIn(0, 'a2')])
    await vi.waitFor(() => expect(seen).toContain('a2'), { timeout: 30_000 })
    await create()
    await vi.waitFor(() => sendRaw(other, [eventIn(0, 'b2')]), { timeout: 20_000 })
    await vi.waitFor(() => expect(seen).toContain('b2'), { timeout: 30_000 })
    await transport.close()
    await other.remove()
  })

  test('is not there at the start: the other is read', async () => {
    await other.remove()
    const { transport, notices, seen } = openBoth()
    await sendRaw(kept, [eventIn(0, 'a1')])
    await vi.waitFor(() => expect(seen).toContain('a1'), { timeout: 30_000 })
    expect(notices.map(({ code }) => code)).toContain('TOPIC_MISSING')
    await transport.close()
  })

  // The group has begun before the topic was there: nothing in it can be older.
  test("comes later: it is read from its start, also with from: 'latest'", async () => {
    await other.remove()
    const { transport, notices, seen } = openBoth({ from: 'latest' })
    await vi.waitFor(() => expect(notices.map(({ code }) => code)).toContain('TOPIC_MISSING'), { timeout: 40_000 })
    await create()
    await vi.waitFor(() => sendRaw(other, [eventIn(0, 'b1')]), { timeout: 20_000 })
    for (let number = 2; !seen.some((id) => id?.startsWith('b')); number++)
      await sendRaw(other, [eventIn(0, `b${number}`)])
    expect(seen.filter((id) => id?.startsWith('b')).at(0)).toBe('b1')
    await transport.close()
    await other.remove()
  })
})
