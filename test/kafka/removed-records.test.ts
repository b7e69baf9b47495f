import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Delivery } from '../../src/contracts/index.ts'
import { idsOf, outgoing, outgoingList } from '../../src/testing/reading.ts'
import { requireServer } from '../servers/require.ts'
import { type KafkaTopic, openTopic } from './open-kafka.ts'
import { readingOf } from './reading-of.ts'

vi.setConfig({ testTimeout: 60_000 })
const kafka = await requireServer('kafka')

describe.skipIf(!kafka.available)('records that the topic has removed before they were read', () => {
  let topic: KafkaTopic
  beforeEach(async () => {
    topic = await openTopic(kafka.url, { partitions: 1 })
  })
  afterEach(() => topic.close())

  /** As its retention would: everything before the offset. */
  const removeBefore = (offset: bigint) =>
    topic.admin((admin) =>
      admin.deleteRecords({ topics: [{ name: topic.name, partitions: [{ partition: 0, offset }] }] }),
    )

  test('reading goes on at the oldest that is left, and says which were missed', async () => {
    const first = topic.connect()
    await first.publish(outgoingList(5))
    await first.settle(await readingOf(first, { maxInFlight: 1 }).take(1), { kind: 'done' })
    await first.close()
    await removeBefore(3n)
    expect(idsOf(await readingOf(topic.connect()).take(2))).toEqual(['m4', 'm5'])
    expect(topic.errors.map(String)).toContainEqual(expect.stringContaining('Position 1 of'))
  })

  test('what is left begins where the store stands, so that the stored position can be moved past the gap', async () => {
    const first = topic.connect({ dedup: 'position' })
    await first.publish(outgoingList(5))
    const [{ place } = {} as Delivery] = await readingOf(first).take(5)
    await first.close()
    await removeBefore(3n)
    const second = topic.connect({ dedup: 'position' })
    const left = await readingOf(second, { restore: async () => [place?.to] }).take(2)
    expect(idsOf(left)).toEqual(['m4', 'm5'])
    expect(left.map((each) => each.place?.from)).toEqual([place?.to, left[0]?.place?.to])
  })

  test('what was read already is delivered, and only then what is left', async () => {
    const transport = topic.connect()
    await transport.publish(outgoingList(3))
    const reading = readingOf(transport, { maxInFlight: 1 })
    const taken = [...(await reading.take(1))]
    await transport.publish([outgoing('m4'), outgoing('m5')])
    await removeBefore(4n)
    while (taken.length < 4) {
      await transport.settle(taken.slice(-1), { kind: 'done' })
      taken.push(...(await reading.take(1)))
    }
    expect(idsOf(taken)).toEqual(['m1', 'm2', 'm3', 'm5'])
  })
})
