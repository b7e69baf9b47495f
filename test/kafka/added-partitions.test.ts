import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Transport, TransportNotice } from '../../src/contracts/index.ts'
import { idsOf } from '../../src/testing/reading.ts'
import { requireServer } from '../servers/require.ts'
import { type KafkaTopic, openTopic } from './open-kafka.ts'
import { eventIn, sendRaw } from './raw-records.ts'
import { readingOf } from './reading-of.ts'

vi.setConfig({ testTimeout: 60_000 })
const kafka = await requireServer('kafka')

describe.skipIf(!kafka.available)('partitions that a topic gets later', () => {
  let topic: KafkaTopic
  beforeEach(async () => {
    topic = await openTopic(kafka.url, { partitions: 1 })
  })
  afterEach(() => topic.close())

  const addPartitions = (count: number) =>
    topic.admin(async (admin) => {
      const { brokers, topics } = await admin.metadata({ topics: [topic.name], forceUpdate: true })
      const added = count - (topics.get(topic.name)?.partitionsCount ?? 0)
      const assignments = Array.from({ length: added }, () => ({ brokerIds: [...brokers.keys()].slice(0, 1) }))
      await admin.createPartitions({ topics: [{ name: topic.name, count, assignments }] })
    })

  /** Where it begins with the latest, nobody knows from outside when it has begun: something is sent until it comes. */
  const begin = async (reading: ReturnType<typeof readingOf>, transport: Transport) => {
    const first = reading.take(1)
    let hasBegun = false
    void first.then(() => {
      hasBegun = true
    })
    for (let number = 1; !hasBegun; number++) await sendRaw(topic, [eventIn(0, `a${number}`)])
    await transport.settle(await first, { kind: 'done' })
  }

  test.each(['earliest', 'latest'] as const)('are read from their start, and it is said (%s)', async (from) => {
    const transport = topic.connect({ from })
    const notices: TransportNotice[] = []
    const reading = readingOf(transport, { notice: (each) => notices.push(each) })
    await begin(reading, transport)
    await addPartitions(3)
    await vi.waitFor(() => sendRaw(topic, [eventIn(1, 'b1'), eventIn(2, 'c1')]), { timeout: 20_000 })
    const ids = new Set<string | undefined>()
    while (!(ids.has('b1') && ids.has('c1'))) {
      const deliveries = await reading.take(1)
      for (const id of idsOf(deliveries)) ids.add(id)
      await transport.settle(deliveries, { kind: 'done' })
    }
    expect(notices).toContainEqual(expect.objectContaining({ code: 'PARTITIONS_CHANGED' }))
  })

  test('are said by a process that hears of them only when it joins the group again', async () => {
    const notices: TransportNotice[] = []
    const first = topic.connect({ clientOptions: { metadataMaxAge: 600_000 } })
    await begin(readingOf(first, { notice: (each) => notices.push(each) }), first)
    await addPartitions(2)
    const joined = Promise.withResolvers<void>()
    readingOf(topic.connect(), { connected: () => joined.resolve() })
      .take(1)
      .catch(() => {})
    await joined.promise
    expect(notices).toContainEqual(expect.objectContaining({ code: 'PARTITIONS_CHANGED' }))
  })

  test('are read by a process that has none, as soon as there are enough', async () => {
    const members = [topic.connect(), topic.connect()]
    const owners = new Map<string, number>()
    const notices: TransportNotice[] = []
    for (const [index, member] of members.entries()) {
      const reading = readingOf(member, { notice: (each) => notices.push(each) })
      void (async () => {
        for (;;) {
          const deliveries = await reading.take(1)
          for (const { message } of deliveries) owners.set(message.position?.split('/')[1] ?? '', index)
          await member.settle(deliveries, { kind: 'done' })
        }
      })().catch(() => {})
    }
    await sendRaw(topic, [eventIn(0, 'a1')])
    await vi.waitFor(() => expect(owners.size).toBe(1), { timeout: 20_000 })
    await vi.waitFor(async () => expect(await membersOf(topic)).toBe(2), { timeout: 20_000 })
    await addPartitions(2)
    await vi.waitFor(
      async () => {
        // The process that had the first partition may have got the second.
        await sendRaw(topic, [eventIn(0, 'a2'), eventIn(1, 'b1')])
        expect(new Set(owners.values()).size).toBe(2)
      },
      { timeout: 30_000, interval: 200 },
    )
    expect(owners.size).toBe(2)
    // Each of them may have seen it, and nobody says the opposite because his knowledge is older.
    const said = new Set(notices.map(({ message }) => message))
    expect([...said]).toEqual([expect.stringContaining('had 1 partitions and now has 2.')])
  })

  test('of a topic that was made again are read too', async () => {
    const transport = topic.connect({ from: 'latest' })
    const reading = readingOf(transport)
    await begin(reading, transport)
    await topic.replace()
    await addPartitions(2)
    await vi.waitFor(() => sendRaw(topic, [eventIn(0, 'n0'), eventIn(1, 'n1')]), { timeout: 20_000 })
    const ids = new Set<string | undefined>()
    while (!(ids.has('n0') && ids.has('n1'))) for (const id of idsOf(await reading.takeOrRestart(1))) ids.add(id)
  })
})

/** How many there are when the group has shared out everything. */
function membersOf({ group, admin }: KafkaTopic): Promise<number | undefined> {
  return admin(async (client) => {
    const found = (await client.describeGroups({ groups: [group] })).get(group)
    return found !== undefined && /STABLE/i.test(found.state) ? found.members.size : undefined
  })
}
