import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as kafkaClient from '@platformatic/kafka'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { TransportNotice } from '../../src/contracts/index.ts'
import { kafkaTransport } from '../../src/transports/kafka/index.ts'
import { type KafkaServer, startKafka } from '../servers/kafka.ts'
import { requireBinaries } from '../servers/require.ts'
import { lagOf } from './effects-world.ts'
import { type KafkaTopic, openTopic } from './open-kafka.ts'
import { eventIn, sendRaw } from './raw-records.ts'
import { idsSettled, readingOf } from './reading-of.ts'

vi.setConfig({ testTimeout: 90_000 })
const kafka = await requireBinaries('kafka')
const timeout = 40_000

describe.skipIf(!kafka.available)('trouble with one partition or topic', () => {
  let server: KafkaServer
  beforeAll(async () => {
    server = await startKafka({
      settings: {
        'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
        'allow.everyone.if.no.acl.found': 'true',
        'super.users': 'User:nobody',
      },
    })
  })
  afterAll(() => server?.stop())

  const open = (...topics: readonly [KafkaTopic, ...KafkaTopic[]]) => {
    const notices: TransportNotice[] = []
    const transport = kafkaTransport({
      kafka: kafkaClient,
      bootstrapServers: server.address,
      topics: topics.map(({ name }) => name),
      group: topics[0].group,
    })
    onTestFinished(() => transport.close())
    const reading = readingOf(transport, { notice: (notice) => notices.push(notice) })
    return { transport, reading, notices, codes: () => notices.map(({ code }) => code) }
  }

  /** Settles whatever comes. */
  const read = (...topics: readonly [KafkaTopic, ...KafkaTopic[]]) => {
    const { transport, reading, ...opened } = open(...topics)
    const seen = idsSettled(transport, reading)
    return { ...opened, seen }
  }

  /** Spoils what the partition has on disk, as a bad disk would. The broker gives it out as it is. */
  const spoil = ({ name }: KafkaTopic, partition: number): void => {
    const file = join(server.folder, 'data', `${name}-${partition}`, `${'0'.repeat(20)}.log`)
    expect(existsSync(file)).toBe(true)
    const bytes = readFileSync(file)
    // Behind the head of the first batch: what was compressed.
    writeFileSync(file, bytes.fill(0xff, 61))
  }

  const aclOf = ({ name }: KafkaTopic) =>
    ({ resourceType: 2, resourceName: name, resourcePatternType: 3, principal: 'User:ANONYMOUS', host: '*' }) as const
  /** Everything else stays allowed. */
  const deny = (operation: 'READ' | 'DESCRIBE', topic: KafkaTopic) =>
    topic.admin((admin) =>
      admin.createAcls({
        creations: [
          { ...aclOf(topic), operation: operation === 'READ' ? 3 : 8, permissionType: 2 },
          { ...aclOf(topic), operation: 2, permissionType: 3 },
        ],
      }),
    )
  const allow = (topic: KafkaTopic) =>
    topic.admin((admin) => admin.deleteAcls({ filters: [{ ...aclOf(topic), operation: 1, permissionType: 1 }] }))

  const untilTold = ({ name, admin }: KafkaTopic, group: string) =>
    vi.waitFor(async () => expect(await admin((client) => lagOf(client, { name, group }))).toBe(0n), { timeout })

  test('a batch that cannot be read stops its partition, and no other', async () => {
    const topic = await openTopic(server.url, { partitions: 3, configs: { 'compression.type': 'gzip' } })
    onTestFinished(() => topic.close())
    for (const partition of [0, 1, 2]) await sendRaw(topic, [eventIn(partition, `p${partition}`)])
    spoil(topic, 1)
    const { seen, codes, notices } = read(topic)
    await vi.waitFor(() => expect([...seen].sort()).toEqual(['p0', 'p2']), { timeout })
    await vi.waitFor(() => expect(codes()).toContain('PARTITION_UNREADABLE'), { timeout })
    expect(notices.map(({ message }) => message)).toContainEqual(expect.stringContaining(`${topic.name}/1`))
    await sendRaw(topic, [eventIn(0, 'q0'), eventIn(2, 'q2')])
    await vi.waitFor(() => expect([...seen].sort()).toEqual(['p0', 'p2', 'q0', 'q2']), { timeout })
  })

  test.each(['READ', 'DESCRIBE'] as const)(
    'a topic without the right to %s stops itself, until it is there',
    async (operation) => {
      const kept = await openTopic(server.url, { partitions: 2 })
      const other = await openTopic(server.url, { partitions: 6 })
      onTestFinished(async () => {
        await Promise.all([kept.close(), other.close()])
      })
      const { seen, codes } = read(kept, other)
      await sendRaw(kept, [eventIn(0, 'a1')])
      await sendRaw(other, [eventIn(0, 'b1')])
      await vi.waitFor(() => expect([...seen].sort()).toEqual(['a1', 'b1']), { timeout })
      // What was not committed before the right is gone would come again.
      await untilTold(other, kept.group)
      await deny(operation, other)
      await vi.waitFor(() => expect(codes()).toContain('BROKER_REFUSED'), { timeout })
      await sendRaw(kept, [eventIn(1, 'a2')])
      await vi.waitFor(() => expect(seen).toContain('a2'), { timeout })
      await allow(other)
      await vi.waitFor(() => sendRaw(other, [eventIn(5, 'b2')]), { timeout })
      await vi.waitFor(() => expect([...seen].sort()).toEqual(['a1', 'a2', 'b1', 'b2']), { timeout })
    },
  )

  test('a position that the group may not take any more keeps no other from being committed', async () => {
    const kept = await openTopic(server.url, { partitions: 1 })
    const other = await openTopic(server.url, { partitions: 1 })
    onTestFinished(async () => {
      await Promise.all([kept.close(), other.close()])
    })
    const { transport, reading, codes } = open(kept, other)
    await sendRaw(kept, [eventIn(0, 'a1'), eventIn(0, 'a2')])
    await sendRaw(other, [eventIn(0, 'b1')])
    const taken = await reading.take(3)
    const settle = (id: string) =>
      transport.settle(
        taken.filter(({ message }) => message.id === id),
        { kind: 'done' },
      )
    await deny('READ', other)
    await vi.waitFor(() => expect(codes()).toContain('BROKER_REFUSED'), { timeout })
    await expect(settle('b1')).rejects.toThrow()
    await settle('a1')
    await settle('a2')
    await allow(other)
    await untilTold(other, kept.group)
  })
})
