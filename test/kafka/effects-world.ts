import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Admin } from '@platformatic/kafka'
import { expect, onTestFinished, vi } from 'vitest'
import type { OutgoingMessage } from '../../src/contracts/index.ts'
import {
  type ConsumingApp,
  type ConsumingConfig,
  countEffects,
  createEffects,
  startConsumingApp,
} from './consuming-app.ts'
import { type KafkaTopic, openTopic } from './open-kafka.ts'

export interface EffectsWorld {
  readonly topic: KafkaTopic
  readonly config: ConsumingConfig
  start(transport?: ConsumingConfig['transport']): Promise<ConsumingApp>
  /** Sends so many messages, three of ten of them twice, in pieces; `between` is called after each piece. */
  send(count: number, between?: (sent: number) => unknown): Promise<readonly string[]>
  effects(): number
  /** The group has committed the end of every partition. */
  drained(timeoutMs?: number): Promise<void>
  expectOneEffectEach(ids: readonly string[]): void
}

/** A topic, a database and a group, gone at the end of the test. */
export async function openEffectsWorld(url: string, { partitions = 4 } = {}): Promise<EffectsWorld> {
  const topic = await openTopic(url, { partitions })
  const folder = await mkdtemp(join(tmpdir(), 'justonce-kafka-'))
  const path = join(folder, 'effects.db')
  await createEffects(path)
  const config = { path, bootstrapServers: topic.address, topic: topic.name, group: topic.group }
  const apps: ConsumingApp[] = []
  onTestFinished(async () => {
    await Promise.all(apps.map((app) => app.stop()))
    await topic.close()
    await rm(folder, { recursive: true, force: true })
  })

  return {
    topic,
    config,
    async start(transport) {
      const app = await startConsumingApp({ ...config, ...(transport !== undefined && { transport }) })
      apps.push(app)
      return app
    },
    async send(count, between) {
      const producer = topic.connect()
      const ids = Array.from({ length: count }, (_, index) => `m${index}`)
      const messages = ids.flatMap((id, index) => (index % 10 < 3 ? [message(id), message(id)] : [message(id)]))
      for (let from = 0; from < messages.length; from += 500) {
        const piece = messages.slice(from, from + 500)
        // As the relay does: what is not known to be there is sent again.
        await vi.waitFor(() => producer.publish(piece), { timeout: 60_000, interval: 200 })
        await between?.(from + piece.length)
      }
      return ids
    },
    effects: () => [...countEffects(path).values()].reduce((sum, runs) => sum + runs, 0),
    async drained(timeoutMs = 60_000) {
      await vi.waitFor(async () => expect(await topic.admin((client) => lagOf(client, topic))).toBe(0n), {
        timeout: timeoutMs,
        interval: 200,
      })
    },
    expectOneEffectEach(ids) {
      const counts = countEffects(path)
      expect([...counts].filter(([, runs]) => runs !== 1)).toEqual([])
      expect([...counts.keys()].sort()).toEqual([...ids].sort())
    },
  }
}

function message(id: string): OutgoingMessage {
  const body = new TextEncoder().encode(JSON.stringify({ id }))
  return { id, type: 'note.created', body, headers: {}, key: `k${id.length}${id.at(-1)}`, sentAt: new Date() }
}

/** How many records the group has not committed yet. */
export async function lagOf(client: Admin, { name, group }: Pick<KafkaTopic, 'name' | 'group'>): Promise<bigint> {
  const [{ partitionsCount } = { partitionsCount: 0 }] = [
    ...(await client.metadata({ topics: [name] })).topics.values(),
  ]
  const indexes = Array.from({ length: partitionsCount }, (_, index) => index)
  const [ends] = await client.listOffsets({
    topics: [{ name, partitions: indexes.map((partitionIndex) => ({ partitionIndex, timestamp: -1n })) }],
  })
  const [committed] = await client.listConsumerGroupOffsets({
    groups: [{ groupId: group, topics: [{ name, partitionIndexes: indexes }] }],
  })
  let lag = 0n
  for (const { partitionIndex, offset } of ends?.partitions ?? []) {
    const found = committed?.topics[0]?.partitions.find((each) => each.partitionIndex === partitionIndex)
    const position = found?.committedOffset ?? 0n
    lag += offset - (position < 0n ? 0n : position)
  }
  return lag
}
