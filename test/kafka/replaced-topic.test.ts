import * as kafkaClient from '@platformatic/kafka'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Delivery, Partition, Position, TransportNotice } from '../../src/contracts/index.ts'
import { idsOf } from '../../src/testing/reading.ts'
import { kafkaTransport } from '../../src/transports/kafka/index.ts'
import { requireServer } from '../servers/require.ts'
import { type KafkaTopic, openTopic } from './open-kafka.ts'
import { eventIn, sendRaw } from './raw-records.ts'
import { readingOf } from './reading-of.ts'

vi.setConfig({ testTimeout: 90_000 })
const kafka = await requireServer('kafka')
const patience = { timeout: 40_000 }

describe.skipIf(!kafka.available)('one of two topics whose positions are in the store', () => {
  let kept: KafkaTopic
  let replaced: KafkaTopic
  let stored: Map<string, Position>
  beforeEach(async () => {
    kept = await openTopic(kafka.url, { partitions: 2 })
    replaced = await openTopic(kafka.url, { partitions: 2 })
    stored = new Map()
  })
  afterEach(() => Promise.all([kept.close(), replaced.close()]))

  const nameOf = ({ source, partition }: Partition) => `${source}/${partition}`
  const placeOf = ({ message: { source }, place }: Delivery) => `${source}/${place?.partition}`

  /** Reads both until the end of the test, storing how far it has come. */
  const readBoth = () => {
    const notices: TransportNotice[] = []
    const seen: (string | undefined)[] = []
    const transport = kafkaTransport({
      kafka: kafkaClient,
      bootstrapServers: kept.address,
      topics: [kept.name, replaced.name],
      group: kept.group,
      dedup: 'position',
      from: 'latest',
    })
    onTestFinished(() => transport.close())
    const reading = readingOf(transport, {
      notice: (notice) => notices.push(notice),
      restore: async (partitions) => partitions.map((each) => stored.get(nameOf(each))),
    })
    void (async () => {
      for (;;) {
        const deliveries = await reading.take(1)
        for (const each of deliveries) stored.set(placeOf(each), each.place?.to as Position)
        seen.push(...idsOf(deliveries))
        await transport.settle(deliveries, { kind: 'done' }).catch(() => {})
      }
    })().catch((error: unknown) => seen.push(String(error)))
    return { transport, notices, seen }
  }
  /** Until something of each of them has come. */
  const begun = async ({ seen }: ReturnType<typeof readBoth>) => {
    while (!seen.includes('kept') || !seen.includes('old')) {
      await sendRaw(kept, [eventIn(0, 'kept')])
      await sendRaw(replaced, [eventIn(0, 'old')])
    }
  }
  const isSaid = ({ notices }: ReturnType<typeof readBoth>) =>
    vi.waitFor(() => expect(notices.map(({ code }) => code)).toContain('SOURCE_REPLACED'), patience)
  /** The other is read on; the new one when somebody has decided that it may be begun, and then from its start. */
  const goesOn = async (both: ReturnType<typeof readBoth>) => {
    await sendRaw(kept, [eventIn(0, 'kept on'), eventIn(1, 'kept too')])
    await vi.waitFor(() => expect(both.seen).toEqual(expect.arrayContaining(['kept on', 'kept too'])), patience)
    expect(both.seen).not.toContain('new')
    for (const name of [...stored.keys()]) if (name.startsWith(replaced.name)) stored.delete(name)
    await vi.waitFor(() => expect(both.seen).toContain('new'), patience)
  }

  test('is made again while it is read: the other is read on', async () => {
    const both = readBoth()
    await begun(both)
    await replaced.replace()
    await sendRaw(replaced, [eventIn(0, 'new')])
    await isSaid(both)
    await goesOn(both)
  })

  test('is made again while nobody reads: the other is read on', async () => {
    const before = readBoth()
    await begun(before)
    await before.transport.close()
    await replaced.replace()
    await sendRaw(replaced, [eventIn(0, 'new'), eventIn(1, 'new too')])
    const both = readBoth()
    await isSaid(both)
    await goesOn(both)
    await vi.waitFor(() => expect(both.seen).toContain('new too'), patience)
  })

  test('has lost its end: the other is read on', async () => {
    const before = readBoth()
    await begun(before)
    await before.transport.close()
    const place = `${replaced.name}/0`
    stored.set(place, { ...(stored.get(place) as Position), next: '1000000' })
    const both = readBoth()
    await isSaid(both)
    await sendRaw(kept, [eventIn(0, 'kept on')])
    await vi.waitFor(() => expect(both.seen).toContain('kept on'), patience)
  })
})
