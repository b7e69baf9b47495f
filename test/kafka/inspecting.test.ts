import * as kafkaClient from '@platformatic/kafka'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { kafkaTransport } from '../../src/transports/kafka/index.ts'
import { type KafkaServer, startKafka } from '../servers/kafka.ts'
import { requireBinaries } from '../servers/require.ts'
import { type KafkaTopic, openTopic } from './open-kafka.ts'
import { eventIn, sendRaw } from './raw-records.ts'

vi.setConfig({ testTimeout: 90_000 })
const kafka = await requireBinaries('kafka')
const timeout = 20_000
const [describing, describingConfigs] = [8, 10]

describe.skipIf(!kafka.available)('inspecting topics', () => {
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

  async function openWithRecords(count: number): Promise<KafkaTopic> {
    const topic = await openTopic(server.url, { partitions: 1 })
    onTestFinished(() => topic.close())
    for (let id = 0; id < count; id++) await sendRaw(topic, [eventIn(0, `m${id}`)])
    return topic
  }

  function inspecting({ name, group }: KafkaTopic, publishTo?: KafkaTopic) {
    const reading = { kafka: kafkaClient, bootstrapServers: server.address, topics: [name], group }
    const transport = kafkaTransport({ ...reading, ...(publishTo !== undefined && { publishTo: publishTo.name }) })
    onTestFinished(() => transport.close())
    return async () => await transport.inspect?.()
  }

  /** Everything else stays allowed. */
  const deny = (topic: KafkaTopic, operation: number) => {
    const who = { principal: 'User:ANONYMOUS', host: '*' }
    const acl = { ...who, resourceType: 2, resourceName: topic.name, resourcePatternType: 3 }
    const creations = [
      { ...acl, operation, permissionType: 2 },
      { ...acl, operation: 2, permissionType: 3 },
    ]
    return topic.admin((admin) => admin.createAcls({ creations: creations as never }))
  }

  test('what is only published to does not wait for the group', async () => {
    const read = await openWithRecords(2)
    const written = await openWithRecords(3)
    const inspect = inspecting(read, written)
    await vi.waitFor(async () => expect((await inspect())?.waiting).toBe(2), { timeout })
  })

  test('a topic whose configuration may not be seen is not checked; the others are, and the lag is known', async () => {
    const read = await openWithRecords(2)
    const written = await openWithRecords(0)
    await deny(written, describingConfigs)
    const inspect = inspecting(read, written)
    await vi.waitFor(
      async () =>
        expect(await inspect()).toEqual({
          waiting: 2,
          warnings: [
            { code: 'BROKER_MAY_LOSE', message: expect.stringContaining(read.name) },
            { code: 'BROKER_NOT_CHECKED', message: expect.stringContaining(written.name) },
          ],
        }),
      { timeout },
    )
  })

  test('a topic that may not be described at all is not checked', async () => {
    const read = await openWithRecords(2)
    await deny(read, describing)
    const inspect = inspecting(read)
    await vi.waitFor(
      async () =>
        expect(await inspect()).toEqual({
          waiting: undefined,
          warnings: [{ code: 'BROKER_NOT_CHECKED', message: expect.stringContaining(read.name) }],
        }),
      { timeout },
    )
  })
})
