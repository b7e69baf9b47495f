import * as client from '@platformatic/kafka'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { outgoing } from '../../src/testing/reading.ts'
import { requireServer } from '../servers/require.ts'
import { type KafkaTopic, openTopic } from './open-kafka.ts'
import { sendRaw } from './raw-records.ts'
import { readingOf } from './reading-of.ts'

vi.setConfig({ testTimeout: 60_000 })
const kafka = await requireServer('kafka')

describe.skipIf(!kafka.available)('records in Kafka', () => {
  let topic: KafkaTopic
  beforeEach(async () => {
    topic = await openTopic(kafka.url, { partitions: 1 })
  })
  afterEach(() => topic.close())

  const headers = (...pairs: [string, string | Buffer][]) =>
    new Map(pairs.map(([name, value]) => [Buffer.from(name), Buffer.from(value as string)]))

  test('a plain record has its key, its time and its coordinate, and no id or type', async () => {
    const sentAfter = Date.now() - 1_000
    await sendRaw(topic, [{ key: Buffer.from('k1'), value: Buffer.from('{"a":1}'), headers: headers(['x', 'y']) }])
    const [delivery] = await readingOf(topic.connect()).take(1)
    const { id, type, sentAt, body, ...rest } = delivery?.message ?? {}
    expect([id, type]).toEqual([undefined, undefined])
    expect(sentAt?.getTime()).toBeGreaterThan(sentAfter)
    expect(Buffer.from(body ?? []).toString()).toBe('{"a":1}')
    expect(rest).toMatchObject({ key: 'k1', headers: { x: 'y' }, source: topic.name, position: `${topic.name}/0/0` })
  })

  test('its time is when the broker took it, in a topic that says so', async () => {
    const stamped = await openTopic(kafka.url, {
      partitions: 1,
      configs: { 'message.timestamp.type': 'LogAppendTime' },
    })
    onTestFinished(() => stamped.close())
    const sentAfter = Date.now() - 60_000
    await sendRaw(stamped, [{ value: Buffer.from('1'), timestamp: 1_000n }])
    const [delivery] = await readingOf(stamped.connect()).take(1)
    expect(delivery?.message.sentAt?.getTime()).toBeGreaterThan(sentAfter)
  })

  test('a time that is none is left out', async () => {
    await sendRaw(topic, [{ value: Buffer.from('1'), timestamp: 2n ** 62n }])
    const [delivery] = await readingOf(topic.connect()).take(1)
    expect(delivery?.message.sentAt).toBeUndefined()
  })

  test('where positions alone tell copies apart, a record without an id is known by its own', async () => {
    await sendRaw(topic, [{ value: Buffer.from('1') }, { value: Buffer.from('2'), headers: headers(['ce_id', 'e2']) }])
    const taken = await readingOf(topic.connect({ dedup: 'position' })).take(2)
    expect(taken.map(({ message }) => message.id)).toEqual([`${topic.name}/0/0`, 'e2'])
  })

  test('its id and type come from a header or a function, where the options say so', async () => {
    await sendRaw(topic, [{ value: Buffer.from('{"no":7}'), headers: headers(['event-id', 'e1']) }])
    const transport = topic.connect({
      id: 'event-id',
      type: ({ body }) => `note.${JSON.parse(`${Buffer.from(body)}`).no}`,
    })
    const [delivery] = await readingOf(transport).take(1)
    expect(delivery?.message).toMatchObject({ id: 'e1', type: 'note.7' })
  })

  test('a function that throws leaves its record without an id and stops nothing', async () => {
    await sendRaw(topic, [{ value: Buffer.from('no JSON') }, { value: Buffer.from('{"id":"e2"}') }])
    const transport = topic.connect({ id: ({ body }) => JSON.parse(`${Buffer.from(body)}`).id })
    const taken = await readingOf(transport).take(2)
    expect(taken.map(({ message }) => message.id)).toEqual([undefined, 'e2'])
  })

  test('a tombstone has the body null and a header that says so', async () => {
    await sendRaw(topic, [
      { key: Buffer.from('k1'), value: null },
      { key: Buffer.from('k1'), value: Buffer.of() },
    ])
    const [tombstone, empty] = await readingOf(topic.connect()).take(2)
    expect(tombstone?.message).toMatchObject({ key: 'k1', headers: { kafka_tombstone: 'true' } })
    const bodies = [tombstone, empty].map((each) => Buffer.from(each?.message.body ?? 'none').toString())
    expect(bodies).toEqual(['null', ''])
    expect(empty?.message.headers).toEqual({})
  })

  test('keys and headers that are no text come as data URLs', async () => {
    const bytes = Buffer.of(0xff, 0x00)
    await sendRaw(topic, [{ key: bytes, value: Buffer.of(), headers: headers(['trace', bytes]) }])
    const [delivery] = await readingOf(topic.connect()).take(1)
    expect(delivery?.message).toMatchObject({ key: 'data:;base64,/wA=', headers: { trace: 'data:;base64,/wA=' } })
  })

  test('a message that is too large is refused, and the others are sent', async () => {
    const small = await openTopic(kafka.url, { partitions: 1, configs: { 'max.message.bytes': '10000' } })
    const transport = small.connect()
    const results = await transport.publish([
      outgoing('m1'),
      outgoing('m2', { body: new Uint8Array(20_000) }),
      outgoing('m3'),
    ])
    expect(results).toEqual([
      { kind: 'sent' },
      { kind: 'refused', error: expect.objectContaining({ code: 'PUBLISH_REFUSED' }), isPassing: false },
      { kind: 'sent' },
    ])
    const taken = await readingOf(transport).take(2)
    expect(taken.map(({ message }) => message.id)).toEqual(['m1', 'm3'])
    await small.close()
  })

  test('keys go to the partitions where the Java client puts them', async () => {
    const wide = await openTopic(kafka.url, { partitions: 12 })
    const transport = wide.connect()
    await transport.publish(['a', 'b', 'key-1', 'ü'].map((key) => outgoing(key, { key })))
    const taken = await readingOf(transport).take(4)
    const partitions = Object.fromEntries(taken.map(({ message, place }) => [message.key, place?.partition]))
    expect(partitions).toEqual({ a: '4', b: '8', 'key-1': '0', ü: '2' })
    await wide.close()
  })

  test('it tells for how long the topic keeps records', async () => {
    const kept = await openTopic(kafka.url, { partitions: 1, configs: { 'retention.ms': '3600000' } })
    expect(await kept.connect().redeliversForMs?.()).toBe(3_600_000)
    await kept.close()
    const compacted = await openTopic(kafka.url, { partitions: 1, configs: { 'cleanup.policy': 'compact' } })
    expect(await compacted.connect().redeliversForMs?.()).toBe(Number.POSITIVE_INFINITY)
    await compacted.close()
  })

  test('it asks for that until the broker answers', async () => {
    const kept = await openTopic(kafka.url, { partitions: 1, configs: { 'retention.ms': '3600000' } })
    let asked = 0
    class LateAdmin extends client.Admin {
      override describeConfigs(...given: Parameters<client.Admin['describeConfigs']>) {
        if (++asked < 3) throw new Error('the broker is away')
        return super.describeConfigs(...given)
      }
    }
    const transport = kept.connect({ kafka: { ...client, Admin: LateAdmin as never } })
    expect(await transport.redeliversForMs?.()).toBe(3_600_000)
    expect([asked, kept.errors.length]).toEqual([3, 2])
    await kept.close()
  })
})
