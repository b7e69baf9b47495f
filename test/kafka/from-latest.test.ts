import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Delivery } from '../../src/contracts/index.ts'
import { idsOf } from '../../src/testing/reading.ts'
import { requireServer } from '../servers/require.ts'
import { type ChosenOptions, type KafkaTopic, openTopic } from './open-kafka.ts'
import { eventIn, sendRaw } from './raw-records.ts'
import { type ReadingOf, readingOf } from './reading-of.ts'

vi.setConfig({ testTimeout: 60_000 })
const kafka = await requireServer('kafka')

describe.skipIf(!kafka.available)("a group that begins with from: 'latest'", () => {
  let topic: KafkaTopic
  beforeEach(async () => {
    topic = await openTopic(kafka.url, { partitions: 2 })
  })
  afterEach(() => topic.close())

  /** Sends to the partition until something of it has come: from then on the group has begun. */
  const begun = async (reading: ReadingOf, partition: number): Promise<readonly Delivery[]> => {
    const first = reading.take(1)
    let hasCome = false
    void first.finally(() => {
      hasCome = true
    })
    for (let number = 1; !hasCome; number++) await sendRaw(topic, [eventIn(partition, `begin-${number}`)])
    return first
  }

  test.each<[string, ChosenOptions, object]>([
    ['by id', {}, {}],
    ['by position', { dedup: 'position' }, { restore: async () => [undefined, undefined] }],
  ])('reads what came to an idle partition while nobody was there (%s)', async (_, options, readingOptions) => {
    const first = topic.connect({ from: 'latest', ...options })
    await first.settle(await begun(readingOf(first, readingOptions), 0), { kind: 'done' })
    await first.close()
    await sendRaw(topic, [eventIn(1, 'x1'), eventIn(1, 'x2')])
    const second = topic.connect({ from: 'latest', ...options })
    const reading = readingOf(second, readingOptions)
    const ids = new Set<string | undefined>()
    while (!ids.has('x2')) for (const id of idsOf(await reading.take(1))) ids.add(id)
    expect(ids).toContain('x1')
  })

  test('loses nothing when another member takes over partitions that nobody has settled anything of', async () => {
    const first = topic.connect({ from: 'latest', handOverMs: 0 })
    const held = await begun(readingOf(first, { maxInFlight: 1 }), 0)
    await sendRaw(topic, [eventIn(0, 'x0'), eventIn(1, 'x1')])
    const second = topic.connect({ from: 'latest' })
    const reading = readingOf(second)
    const [taken] = await reading.take(1)
    // Of whichever partition it has got now, it begins where the first began.
    const expected = taken?.message.position?.startsWith(`${topic.name}/0/`) ? idsOf(held)[0] : 'x1'
    expect(taken?.message.id).toBe(expected)
  })

  test('skips the past, with several members that begin at once', async () => {
    await sendRaw(topic, [eventIn(0, 'old-0'), eventIn(1, 'old-1')])
    const members = [topic.connect({ from: 'latest' }), topic.connect({ from: 'latest' })]
    const seen: (string | undefined)[] = []
    const readings = members.map(async (member) => {
      const reading = readingOf(member)
      for (;;) {
        const deliveries = await reading.take(1)
        seen.push(...idsOf(deliveries))
        await member.settle(deliveries, { kind: 'done' })
      }
    })
    for (const reading of readings) reading.catch(() => {})
    const partitionsSeen = () => new Set(seen.map((id) => id?.split('-').at(1)))
    for (let number = 1; partitionsSeen().size < 2; number++)
      await sendRaw(topic, [eventIn(0, `new-0-${number}`), eventIn(1, `new-1-${number}`)])
    expect(seen.filter((id) => id?.startsWith('old'))).toEqual([])
  })
})
