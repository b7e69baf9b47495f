import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { idsOf } from '../../src/testing/reading.ts'
import { freePort, localhost } from '../servers/address.ts'
import { type KafkaServer, startKafka } from '../servers/kafka.ts'
import { type FaultProxy, startProxy } from '../servers/proxy.ts'
import { requireBinaries } from '../servers/require.ts'
import { openTopic } from './open-kafka.ts'
import { eventIn, sendRaw } from './raw-records.ts'
import { readingOf } from './reading-of.ts'

vi.setConfig({ testTimeout: 240_000 })
const kafka = await requireBinaries('kafka')

describe.skipIf(!kafka.available)('a slow link to Kafka', () => {
  let server: KafkaServer
  let proxy: FaultProxy
  beforeAll(async () => {
    const port = await freePort()
    server = await startKafka({ settings: { 'advertised.listeners': `PLAINTEXT://${localhost}:${port}` } })
    proxy = await startProxy(localhost, Number(new URL(server.url).port), port)
  })
  afterAll(async () => {
    await proxy?.stop()
    await server?.stop()
  })

  test('a backlog that takes longer than the client waits for an answer is read in smaller pieces', async () => {
    const topic = await openTopic(server.url, { partitions: 4 })
    onTestFinished(async () => {
      proxy.slow(0)
      await topic.close()
    })
    const value = Buffer.alloc(100_000, ' ')
    for (let round = 0; round < 8; round++) {
      const records = [0, 1, 2, 3].map((partition) => ({ ...eventIn(partition, `m${partition}-${round}`), value }))
      await sendRaw(topic, records)
    }
    // Some 300 kB in a second: all of it takes ten.
    proxy.slow(200)
    const transport = topic.connect({ clientOptions: { requestTimeout: 3_000 } })
    const ids = idsOf(await readingOf(transport).takeOrRestart(32))
    expect(new Set(ids).size).toBe(32)
  })
})
