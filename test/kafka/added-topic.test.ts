import * as kafkaClient from '@platformatic/kafka'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { idsOf } from '../../src/testing/reading.ts'
import { kafkaTransport } from '../../src/transports/kafka/index.ts'
import { requireServer } from '../servers/require.ts'
import { type KafkaTopic, openTopic } from './open-kafka.ts'
import { eventIn, sendRaw } from './raw-records.ts'
import { readingOf } from './reading-of.ts'

vi.setConfig({ testTimeout: 90_000 })
const kafka = await requireServer('kafka')
const partitions = [0, 1, 2]

describe.skipIf(!kafka.available)('a topic that only some members of the group read', () => {
  let old: KafkaTopic
  let added: KafkaTopic
  beforeEach(async () => {
    old = await openTopic(kafka.url, { partitions: partitions.length })
    added = await openTopic(kafka.url, { partitions: partitions.length })
  })
  afterEach(() => Promise.all([old.close(), added.close()]))

  /** Reads until the end of the test, and resolves when it is in the group. */
  const member = async (topics: readonly string[], seen: Set<string | undefined>): Promise<void> => {
    const transport = kafkaTransport({
      kafka: kafkaClient,
      bootstrapServers: old.address,
      topics,
      group: old.group,
      handOverMs: 2_000,
    })
    onTestFinished(() => transport.close())
    const before = await stableMembers(old)
    const reading = readingOf(transport)
    void (async () => {
      for (;;) {
        const deliveries = await reading.take(1)
        for (const id of idsOf(deliveries)) seen.add(id)
        await transport.settle(deliveries, { kind: 'done' }).catch(() => {})
      }
    })().catch(() => {})
    await vi.waitFor(async () => expect(await stableMembers(old)).toBe(before + 1), { timeout: 30_000 })
  }

  // As in a deploy that adds a topic, process by process. The first one shares out the partitions.
  test.each(['old', 'new'])('is read by those, and the rest by all, when the %s one shares out', async (first) => {
    const seen = new Set<string | undefined>()
    const both = [old.name, added.name]
    for (const topics of first === 'old' ? [[old.name], both] : [both, [old.name]]) await member(topics, seen)
    const ids = (prefix: string) => partitions.map((partition) => `${prefix}${partition}`)
    for (const [topic, prefix] of [
      [old, 'a'],
      [added, 'b'],
    ] as const)
      await sendRaw(
        topic,
        partitions.map((partition) => eventIn(partition, `${prefix}${partition}`)),
      )
    await vi.waitFor(() => expect([...seen].sort()).toEqual([...ids('a'), ...ids('b')]), { timeout: 30_000 })
  })
})

/** How many there are when the group has shared out everything; none before. */
function stableMembers({ group, admin }: KafkaTopic): Promise<number> {
  return admin(async (client) => {
    const found = (await client.describeGroups({ groups: [group] })).get(group)
    return found !== undefined && /STABLE/i.test(found.state) ? found.members.size : 0
  })
}
