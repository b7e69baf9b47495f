import * as kafkaClient from '@platformatic/kafka'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { outgoing } from '../../src/testing/reading.ts'
import { kafkaTransport } from '../../src/transports/kafka/index.ts'
import { freePort } from '../servers/address.ts'
import { requireServer } from '../servers/require.ts'
import { type KafkaTopic, openTopic } from './open-kafka.ts'
import { readingOf } from './reading-of.ts'

vi.setConfig({ testTimeout: 60_000 })
const kafka = await requireServer('kafka')
const good = { kafka: kafkaClient, bootstrapServers: 'localhost:9092', topics: ['notes'], group: 'tagger' }

describe('options of the Kafka transport', () => {
  test.for([
    [{ topic: 'notes' }, 'OPTION_UNKNOWN', 'topics'],
    [{ kafka: {} }, 'OPTION_INVALID', 'kafka.Consumer'],
    [{ bootstrapServers: [] }, 'OPTION_INVALID', 'bootstrapServers'],
    [{ bootstrapServers: 'localhost' }, 'OPTION_INVALID', 'host:port'],
    [{ topics: [] }, 'OPTION_INVALID', 'topics'],
    [{ topics: ['a b'] }, 'OPTION_INVALID', 'topics'],
    [{ group: '' }, 'OPTION_INVALID', 'group'],
    [{ dedup: 'ids' }, 'OPTION_INVALID', 'Did you mean id?'],
    [{ lanes: 'keys' }, 'OPTION_INVALID', 'Did you mean key?'],
    [{ dedup: 'position', lanes: 'key' }, 'OPTION_INVALID', 'one position'],
    [{ dedup: 'both', lanes: 'key' }, 'OPTION_INVALID', 'one position'],
    [{ handOverMs: -1 }, 'OPTION_INVALID', 'handOverMs'],
    [{ id: 7 }, 'OPTION_INVALID', 'id'],
  ] as const)('%j is refused', ([change, code, text]) => {
    const open = () => kafkaTransport({ ...good, ...change } as never)
    expect(open).toThrow(expect.objectContaining({ code, message: expect.stringContaining(text) }))
  })
})

describe.skipIf(!kafka.available)('what is not there', () => {
  let topic: KafkaTopic
  beforeEach(async () => {
    topic = await openTopic(kafka.url, { partitions: 1 })
  })
  afterEach(() => topic.close())

  test('a wrong address: BROKER_UNREACHABLE, with the address', async () => {
    const address = `127.0.0.1:${await freePort()}`
    const transport = kafkaTransport({ ...good, bootstrapServers: address })
    await expect(readingOf(transport).take(1)).rejects.toMatchObject({
      code: 'BROKER_UNREACHABLE',
      message: expect.stringContaining(address),
    })
    await expect(transport.publish([outgoing('m1')])).rejects.toThrow()
    await transport.close()
  })

  test('a missing topic: BROKER_SETUP, with its name, for reading and for publishing', async () => {
    const missing = { code: 'BROKER_SETUP', message: expect.stringContaining('no-such-topic') }
    const transport = kafkaTransport({ ...good, bootstrapServers: topic.address, topics: ['no-such-topic'] })
    await expect(readingOf(transport).take(1)).rejects.toMatchObject(missing)
    await expect(transport.publish([outgoing('m1')])).rejects.toMatchObject(missing)
    await transport.close()
  })

  test('a topic that is made later is found without a restart', async () => {
    const transport = kafkaTransport({ ...good, bootstrapServers: topic.address, topics: [topic.name], group: 'late' })
    await topic.remove()
    await expect(readingOf(transport).take(1)).rejects.toMatchObject({ code: 'BROKER_SETUP' })
    await topic.admin((admin) => admin.createTopics({ topics: [topic.name], partitions: 1, replicas: 1 }))
    const reading = readingOf(transport)
    await transport.publish([outgoing('m1')])
    expect((await reading.takeOrRestart(1)).map(({ message }) => message.id)).toEqual(['m1'])
    await transport.close()
  })
})
