import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Position, TransportNotice } from '../../src/contracts/index.ts'
import { idsOf, outgoing, outgoingList } from '../../src/testing/reading.ts'
import { requireServer } from '../servers/require.ts'
import { type KafkaTopic, openTopic } from './open-kafka.ts'
import { sendTransaction } from './raw-records.ts'
import { readingOf } from './reading-of.ts'

vi.setConfig({ testTimeout: 60_000 })
const kafka = await requireServer('kafka')

describe.skipIf(!kafka.available)('positions in Kafka', () => {
  let topic: KafkaTopic
  beforeEach(async () => {
    topic = await openTopic(kafka.url, { partitions: 1 })
  })
  afterEach(() => topic.close())

  const topicId = () =>
    topic.admin(async (admin) => (await admin.metadata({ topics: [topic.name] })).topics.get(topic.name)?.id)

  test('places are in the incarnation of the topic', async () => {
    const transport = topic.connect({ dedup: 'position' })
    await transport.publish(outgoingList(3))
    const taken = await readingOf(transport).take(3)
    const at = (next: string) => ({ next, incarnation: expect.any(String) })
    expect(taken.map(({ place }) => place)).toEqual([
      { partition: '0', from: undefined, to: at('1') },
      { partition: '0', from: at('1'), to: at('2') },
      { partition: '0', from: at('2'), to: at('3') },
    ])
    expect(taken[0]?.place?.to.incarnation).toBe(await topicId())
    expect(transport).toMatchObject({ positions: { dedup: 'position', group: topic.group } })
  })

  test('a partition of which nothing is stored begins where the group is', async () => {
    const first = topic.connect({ dedup: 'position' })
    await first.publish(outgoingList(3))
    const reading = readingOf(first, { maxInFlight: 1 })
    await first.settle(await reading.take(1), { kind: 'done' })
    await first.close()
    const second = topic.connect({ dedup: 'position' })
    const taken = await readingOf(second, { restore: async () => [undefined] }).take(2)
    expect(idsOf(taken)).toEqual(['m2', 'm3'])
  })

  test('a partition that the store has forgotten begins where it was begun, not at the start of the topic', async () => {
    const byId = topic.connect()
    await byId.publish(outgoingList(4))
    await byId.settle(await readingOf(byId, { maxInFlight: 1 }).take(1), { kind: 'done' })
    await byId.close()
    const before = topic.connect({ dedup: 'position' })
    await before.settle(await readingOf(before, { restore: async () => [undefined] }).take(3), { kind: 'done' })
    await before.close()
    const notices: TransportNotice[] = []
    const notice = (each: TransportNotice) => void notices.push(each)
    const after = topic.connect({ dedup: 'position' })
    const taken = await readingOf(after, { restore: async () => [undefined], notice }).take(3)
    expect(idsOf(taken)).toEqual(['m2', 'm3', 'm4'])
    expect(notices).toMatchObject([{ code: 'POSITION_FORGOTTEN' }])
  })

  test('where nobody knows any more where a forgotten partition was begun, somebody has to say it', async () => {
    const before = topic.connect({ dedup: 'position' })
    await before.publish(outgoingList(3))
    const taken = await readingOf(before, { restore: async () => [undefined], maxInFlight: 1 }).take(1)
    await before.settle(taken, { kind: 'done' })
    await before.close()
    const { name, group: groupId } = topic
    const setGroupTo = (offset: bigint) =>
      topic.admin((admin) =>
        admin.alterConsumerGroupOffsets({ groupId, topics: [{ name, partitionOffsets: [{ partition: 0, offset }] }] }),
      )
    await setGroupTo(0n)
    const between = topic.connect({ dedup: 'position' })
    const more = await readingOf(between, { restore: async () => [taken[0]?.place?.to], maxInFlight: 1 }).take(1)
    expect(idsOf(more)).toEqual(['m2'])
    await between.settle(more, { kind: 'done' })
    await between.close()
    const after = topic.connect({ dedup: 'position' })
    const reading = readingOf(after, { restore: async () => [undefined] })
    await expect(reading.take(1)).rejects.toMatchObject({ code: 'POSITION_FORGOTTEN' })
    await after.close()
    await setGroupTo(1n)
    const last = topic.connect({ dedup: 'position' })
    expect(idsOf(await readingOf(last, { restore: async () => [undefined] }).take(2))).toEqual(['m2', 'm3'])
  })

  test('a store that cannot answer is asked again, and nothing is delivered before', async () => {
    const transport = topic.connect({ dedup: 'position' })
    await transport.publish(outgoingList(1))
    let asked = 0
    const reading = readingOf(transport, {
      async restore() {
        if (++asked < 3) throw new Error('the store is down')
        return [undefined]
      },
    })
    expect(idsOf(await reading.take(1))).toEqual(['m1'])
    expect(asked).toBe(3)
    expect(topic.errors.map(String)).toContain('Error: the store is down')
  })

  test('a stored position of another topic of the same name stops with SOURCE_REPLACED', async () => {
    const transport = topic.connect({ dedup: 'position' })
    await transport.publish(outgoingList(1))
    const incarnation = await topicId()
    await topic.replace()
    await transport.publish(outgoingList(1))
    const stored = { next: '1', incarnation: incarnation as string }
    const reading = readingOf(topic.connect({ dedup: 'position' }), { restore: async () => [stored] })
    await expect(reading.take(1)).rejects.toMatchObject({ code: 'SOURCE_REPLACED' })
  })

  test('a stored position beyond the end stops with SOURCE_REPLACED', async () => {
    const transport = topic.connect({ dedup: 'position' })
    await transport.publish(outgoingList(1))
    const stored = { next: '1000', incarnation: (await topicId()) as string }
    const reading = readingOf(transport, { restore: async () => [stored] })
    await expect(reading.take(1)).rejects.toMatchObject({ code: 'SOURCE_REPLACED' })
  })

  test('a position of the group beyond the end stops nothing: with nothing stored the topic is read from its start', async () => {
    const transport = topic.connect({ dedup: 'position' })
    await transport.publish(outgoingList(2))
    const { name, group: groupId } = topic
    const topics = [{ name, partitionOffsets: [{ partition: 0, offset: 1_000n }] }]
    await topic.admin((admin) => admin.alterConsumerGroupOffsets({ groupId, topics }))
    const taken = await readingOf(transport, { restore: async () => [undefined] }).take(2)
    expect(idsOf(taken)).toEqual(['m1', 'm2'])
    expect(taken[0]?.place?.from).toBeUndefined()
  })

  test('a topic that is replaced while it is read stops with SOURCE_REPLACED', async () => {
    const transport = topic.connect({ dedup: 'position' })
    await transport.publish(outgoingList(1))
    let stored: Position | undefined
    const reading = readingOf(transport, { restore: async () => [stored] })
    const taken = await reading.take(1)
    stored = taken[0]?.place?.to
    await transport.settle(taken, { kind: 'done' })
    const next = reading.take(1)
    next.catch(() => {})
    await topic.replace()
    await expect(next).rejects.toMatchObject({ code: 'SOURCE_REPLACED' })
  })

  test('without stored positions the new topic is read from its start', async () => {
    const transport = topic.connect()
    await transport.publish(outgoingList(2))
    const reading = readingOf(transport)
    await transport.settle(await reading.take(2), { kind: 'done' })
    await topic.replace()
    const publisher = topic.connect()
    await publisher.publish([outgoing('new')])
    const later = await reading.takeOrRestart(1)
    expect(idsOf(later)).toEqual(['new'])
    // Nobody is asked to decide anything.
    expect(topic.errors).not.toContainEqual(expect.objectContaining({ code: 'SOURCE_REPLACED' }))
  })

  test('positions pass over the markers of transactions, and what was rolled back is never delivered', async () => {
    await sendTransaction(topic, ['rolled-back-1', 'rolled-back-2'], 'abort')
    await sendTransaction(topic, ['committed-1', 'committed-2'], 'commit')
    const transport = topic.connect({ dedup: 'position' })
    await transport.publish([outgoing('last')])
    const taken = await readingOf(transport).take(3)
    expect(idsOf(taken)).toEqual(['committed-1', 'committed-2', 'last'])
    // Two that were rolled back, two that were committed, a marker each, and the last: whether a marker lies before or
    // behind a record depends on when the broker wrote it.
    expect(taken.at(-1)?.place?.to.next).toBe('7')
    expect(taken.map(({ place }) => place?.from)).toEqual([undefined, taken[0]?.place?.to, taken[1]?.place?.to])
  })
})
