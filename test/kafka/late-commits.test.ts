import * as kafka from '@platformatic/kafka'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Delivery } from '../../src/contracts/index.ts'
import type { KafkaTransportOptions } from '../../src/transports/kafka/index.ts'
import { requireServer } from '../servers/require.ts'
import { openTopic } from './open-kafka.ts'

vi.setConfig({ testTimeout: 60_000 })
const server = await requireServer('kafka')

/** A group whose coordinator has frozen: while it hangs, positions get no answer. Everything else of the cluster does. */
function frozenCoordinator() {
  const answer = Promise.withResolvers<void>()
  let asked = 0
  class HangingConsumer extends kafka.Consumer<Buffer, Buffer, Buffer, Buffer> {
    override async commit(options: never): Promise<void> {
      asked++
      await answer.promise
      return super.commit(options) as never
    }
  }
  const module = { ...kafka, Consumer: HangingConsumer } as unknown as KafkaTransportOptions['kafka']
  return { module, asked: () => asked, thaw: () => answer.resolve() }
}

describe.skipIf(!server.available)('a group that takes no positions', () => {
  test('is waited for once and not after each message; it learns all positions when it answers again', async () => {
    const topic = await openTopic(server.url, { partitions: 1 })
    const coordinator = frozenCoordinator()
    const transport = topic.connect({ kafka: coordinator.module })
    const ending = new AbortController()
    onTestFinished(async () => {
      ending.abort()
      coordinator.thaw()
      await topic.close()
    })
    const ids = Array.from({ length: 8 }, (_, index) => `m${index}`)
    const body = new TextEncoder().encode('{}')
    const sentAt = new Date()
    await transport.publish(
      ids.map((id) => ({ id, type: 't', body, headers: {}, key: 'k', sentAt, expiresAt: undefined })),
    )
    const settled: (string | undefined)[] = []
    let failures = 0
    const settleOne = async (delivery: Delivery): Promise<void> => {
      await transport.settle([delivery], { kind: 'done' }).catch(() => {
        failures++
      })
      settled.push(delivery.message.id)
    }
    void (async () => {
      for await (const some of transport.deliveries({ signal: ending.signal, maxInFlight: 20 }))
        for (const each of some) await settleOne(each)
    })()
    // More than ten seconds for each of them if each is waited for.
    await vi.waitFor(() => expect(settled).toEqual(ids), { timeout: 30_000 })
    expect({ failures, asked: coordinator.asked() }).toEqual({ failures: 1, asked: 1 })
    coordinator.thaw()
    const committed = () =>
      topic.admin(async (admin) => {
        const [found] = await admin.listConsumerGroupOffsets({ groups: [topic.group] })
        return found?.topics[0]?.partitions[0]?.committedOffset
      })
    await vi.waitFor(async () => expect(await committed()).toBe(8n), { timeout: 20_000, interval: 200 })
  })
})
