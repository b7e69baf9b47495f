import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { TransportNotice } from '../../src/contracts/index.ts'
import { idsOf } from '../../src/testing/reading.ts'
import { requireServer } from '../servers/require.ts'
import { type KafkaTopic, mortalClient, openTopic } from './open-kafka.ts'
import { eventIn, sendRaw } from './raw-records.ts'
import { idsSettled, readingOf } from './reading-of.ts'

vi.setConfig({ testTimeout: 60_000 })
const kafka = await requireServer('kafka')
const patience = { timeout: 30_000 }
const events = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => eventIn(0, `${name}-${index}`))

describe.skipIf(!kafka.available)('a topic that is made again while records of the old one are in hand', () => {
  let topic: KafkaTopic
  beforeEach(async () => {
    topic = await openTopic(kafka.url, { partitions: 1 })
  })
  afterEach(() => topic.close())

  test('the next owner reads the new one from its start, whatever was committed of the old one', async () => {
    const former = topic.connect()
    await sendRaw(topic, events('old', 60))
    const held = await readingOf(former, { maxInFlight: 10 }).take(10)
    await topic.replace()
    await sendRaw(topic, events('new', 30))
    await former.settle(held, { kind: 'done' })
    await former.close()
    expect(idsOf(await readingOf(topic.connect()).take(30))).toEqual(
      Array.from({ length: 30 }, (_, index) => `new-${index}`),
    )
  })

  test('it is noticed although there is no room for more', async () => {
    const transport = topic.connect()
    await sendRaw(topic, events('old', 60))
    const notices: TransportNotice[] = []
    const reading = readingOf(transport, { maxInFlight: 10, notice: (notice) => notices.push(notice) })
    const [held] = await reading.take(10)
    await topic.replace()
    await sendRaw(topic, events('new', 1))
    await vi.waitFor(() => expect(notices.map(({ code }) => code)).toContain('TOPIC_REPLACED'), patience)
    expect(held?.ended?.aborted).toBe(true)
    expect(idsOf(await reading.take(1))).toEqual(['new-0'])
  })

  test("a member that had nothing of it reads the new one from its start, also with from: 'latest'", async () => {
    const { module, die } = mortalClient()
    const owner = topic.connect({ from: 'latest', kafka: module, sessionTimeoutMs: 6_000 })
    const owned = idsSettled(owner, readingOf(owner))
    while (owned.length === 0) await sendRaw(topic, events('old', 1))
    const heir = topic.connect({ from: 'latest' })
    let isConnected = false
    const inherited = idsSettled(heir, readingOf(heir, { connected: () => (isConnected = true) }))
    await vi.waitFor(() => expect(isConnected).toBe(true), patience)
    await die()
    await topic.replace()
    await sendRaw(topic, events('new', 3))
    await vi.waitFor(() => expect(inherited).toEqual(expect.arrayContaining(['new-0', 'new-1', 'new-2'])), patience)
  })
})
