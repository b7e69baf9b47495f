import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { idsOf, outgoing, outgoingList } from '../../src/testing/reading.ts'
import { requireServer } from '../servers/require.ts'
import { type KafkaTopic, openTopic, watchedClient } from './open-kafka.ts'
import { readingOf } from './reading-of.ts'

vi.setConfig({ testTimeout: 60_000 })
const kafka = await requireServer('kafka')

describe.skipIf(!kafka.available)('assignments in Kafka', () => {
  let topic: KafkaTopic
  beforeEach(async () => {
    topic = await openTopic(kafka.url, { partitions: 1 })
  })
  afterEach(() => topic.close())

  const committed = async () => (await committedIn(topic, [0]))[0]

  test('what may have been with a dead process is marked, and only that', async () => {
    const transport = topic.connect()
    await transport.publish(outgoingList(10))
    const reading = readingOf(transport, { maxInFlight: 3 })
    const marks: (boolean | undefined)[] = []
    while (marks.length < 10) {
      const taken = await reading.take(1)
      marks.push(...taken.map(({ redelivered }) => redelivered))
      await transport.settle(taken, { kind: 'done' })
    }
    expect(marks).toEqual([true, true, true, ...Array(7).fill(false)])
  })

  test('whatever protocol of groups the client is set to, the group is read', async () => {
    const transport = topic.connect({ clientOptions: { groupProtocol: 'consumer' } })
    await transport.publish(outgoingList(2))
    expect(idsOf(await readingOf(transport).take(2))).toEqual(['m1', 'm2'])
  })

  test('only what is settled without a gap is committed, and a slow key does not stop the others', async () => {
    const transport = topic.connect({ lanes: 'key' })
    const others = Array.from({ length: 40 }, (_, index) => `b${index}`)
    await transport.publish([outgoing('a1', { key: 'a' }), ...others.map((id) => outgoing(id, { key: 'b' }))])
    const reading = readingOf(transport, { maxInFlight: 5 })
    const held = []
    for (let done = 0; done < others.length; ) {
      for (const delivery of await reading.take(1)) {
        if (delivery.message.key === 'a') held.push(delivery)
        else {
          await transport.settle([delivery], { kind: 'done' })
          done++
        }
      }
    }
    expect(await committed()).toBe(-1n)
    await transport.settle(held, { kind: 'done' })
    expect(await committed()).toBe(41n)
  })

  test('how far others may run ahead of a slow key is bounded', async () => {
    const transport = topic.connect({ lanes: 'key' })
    const others = Array.from({ length: 60 }, (_, index) => `b${index}`)
    await transport.publish([outgoing('a1', { key: 'a' }), ...others.map((id) => outgoing(id, { key: 'b' }))])
    const reading = readingOf(transport, { maxInFlight: 2 })
    let ahead = 0
    const held = []
    while (ahead < 19) {
      for (const delivery of await reading.take(1)) {
        if (delivery.message.key === 'a') held.push(delivery)
        else {
          await transport.settle([delivery], { kind: 'done' })
          ahead++
        }
      }
    }
    const further = reading.take(1).then((taken) => ({ taken, wasHeld: held.length > 0 }))
    // A round trip to the broker, in which a delivery that must not come would have come.
    await committed()
    await transport.settle(held.splice(0), { kind: 'done' })
    expect((await further).wasHeld).toBe(false)
  })

  test('settling a delivery of an earlier assignment does nothing', async () => {
    const transport = topic.connect({ handOverMs: 0 })
    await transport.publish(outgoingList(1))
    const reading = readingOf(transport)
    const stale = await reading.take(1)
    await topic.admin((admin) => admin.removeMembersFromConsumerGroup({ groupId: topic.group, members: null }))
    const again = await reading.take(1)
    expect(idsOf(again)).toEqual(['m1'])
    await transport.settle(stale, { kind: 'done' })
    expect(await committed()).toBe(-1n)
    await transport.settle(again, { kind: 'done' })
    expect(await committed()).toBe(1n)
  })

  test('a partition is given up only when what is being handled is finished', async () => {
    const wide = await openTopic(kafka.url, { partitions: 2 })
    const { module, rebalancing } = watchedClient()
    const holder = wide.connect({ kafka: module, handOverMs: 30_000 })
    await holder.publish(outgoingList(2))
    const held = await readingOf(holder).take(2)
    const other = wide.connect()
    const later = readingOf(other).take(1)
    await rebalancing
    const state = () =>
      wide.admin(async (admin) => (await admin.describeGroups({ groups: [wide.group] })).get(wide.group)?.state)
    // The holder knows of the rebalance, and the group waits for it.
    for (let asked = 0; asked < 10; asked++) expect(await state()).toMatch(/PREPARING/i)
    await holder.settle(held, { kind: 'done' })
    // One to each partition, so that the other consumer gets one, whichever partition is its own.
    await wide.connect().publish([outgoing('x1'), outgoing('x2')])
    expect(idsOf(await later)[0]).toMatch(/^x/)
    await wide.close()
  })

  test('it is given up after a while even if that is not finished, and comes to another', async () => {
    const wide = await openTopic(kafka.url, { partitions: 2 })
    const holder = wide.connect({ handOverMs: 100 })
    await holder.publish(outgoingList(2))
    const held = await readingOf(holder).take(2)
    const other = wide.connect()
    const [again] = await readingOf(other).take(1)
    expect(idsOf(held)).toContain(again?.message.id)
    await holder.settle(held, { kind: 'done' })
    const kept = held.filter(({ message }) => message.id !== again?.message.id)
    expect(await committedIn(wide)).toEqual([-1n, 1n])
    expect(kept).toHaveLength(1)
    await wide.close()
  })
})

/** What the group has committed, smallest first; -1 where it has not. */
function committedIn({ name, group, admin }: KafkaTopic, partitionIndexes = [0, 1]): Promise<readonly bigint[]> {
  return admin(async (client) => {
    const topics = [{ name, partitionIndexes }]
    const [found] = await client.listConsumerGroupOffsets({ groups: [{ groupId: group, topics }] })
    const offsets = found?.topics[0]?.partitions.map(({ committedOffset }) => committedOffset) ?? []
    return offsets.sort((a, b) => Number(a - b))
  })
}
