import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { requireServer } from '../servers/require.ts'
import { type KafkaTopic, openTopic } from './open-kafka.ts'
import { sendRaw } from './raw-records.ts'
import { readingOf } from './reading-of.ts'

vi.setConfig({ testTimeout: 60_000 })
const kafka = await requireServer('kafka')

describe.skipIf(!kafka.available)('keys of records, which are bytes', () => {
  let topic: KafkaTopic
  beforeEach(async () => {
    topic = await openTopic(kafka.url, { partitions: 1 })
  })
  afterEach(() => topic.close())

  test('come as different texts, whatever they are made of', async () => {
    const long = Buffer.alloc(8)
    long.writeBigInt64BE(1n)
    const keys = [
      long,
      Buffer.from([0xff]),
      // The text that the key before it would become.
      Buffer.from('data:;base64,/w=='),
      Buffer.from([0xfe]),
      Buffer.from([0xef, 0xbf, 0xbd]),
      Buffer.from([0xef, 0xbb, 0xbf, 0x61]),
      Buffer.from('a'),
      Buffer.alloc(0),
      Buffer.from([0xed, 0xa0, 0x80]),
    ]
    await sendRaw(
      topic,
      keys.map((key) => ({ key, value: Buffer.from('{}') })),
    )
    const deliveries = await readingOf(topic.connect()).take(keys.length)
    const texts = deliveries.map(({ message }) => message.key)
    expect(texts).not.toContain(undefined)
    expect(new Set(texts).size).toBe(keys.length)
    expect(texts[0]).toBe('\0\0\0\0\0\0\0\u0001')
    expect(texts[1]).toBe('data:;base64,/w==')
  })
})
