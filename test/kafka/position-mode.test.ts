import { copyFile, rm } from 'node:fs/promises'
import { describe, expect, test, vi } from 'vitest'
import { outgoing } from '../../src/testing/reading.ts'
import { requireServer } from '../servers/require.ts'
import { startConsumerProcess } from './consumer-process.ts'
import { openEffectsWorld } from './effects-world.ts'

vi.setConfig({ testTimeout: 120_000 })
const kafka = await requireServer('kafka')

describe.skipIf(!kafka.available)('positions in the database', () => {
  test('one of two processes is killed: every record has taken effect once, copies of a producer included', async () => {
    const world = await openEffectsWorld(kafka.url)
    const config = { ...world.config, transport: { sessionTimeoutMs: 2_000, dedup: 'both' as const } }
    const [victim] = await Promise.all([startConsumerProcess(config), startConsumerProcess(config)])
    const ids = await world.send(1_500)
    await vi.waitFor(() => expect(world.effects()).toBeGreaterThan(150), { timeout: 60_000 })
    victim.kill()
    await vi.waitFor(() => expect(world.effects()).toBe(ids.length), { timeout: 60_000, interval: 200 })
    world.expectOneEffectEach(ids)
  })

  test('an operator sets the group back to zero: the database says where to go on', async () => {
    const world = await openEffectsWorld(kafka.url, { partitions: 2 })
    const before = await world.start({ dedup: 'both' })
    const ids = await world.send(300)
    await world.drained()
    await before.stop()
    const { name, group } = world.topic
    const partitionOffsets = [0, 1].map((partition) => ({ partition, offset: 0n }))
    await world.topic.admin((admin) =>
      admin.alterConsumerGroupOffsets({ groupId: group, topics: [{ name, partitionOffsets }] }),
    )
    const after = await world.start({ dedup: 'both' })
    const more = await world.send(310)
    await vi.waitFor(() => expect(world.effects()).toBe(310), { timeout: 60_000, interval: 200 })
    world.expectOneEffectEach(more)
    // The first 300 were sent again with the last ten: those copies are known by their ids, and nothing older came.
    const duplicates = after.events.filter(({ kind }) => kind === 'duplicate').length
    expect(duplicates).toBeLessThan(ids.length * 1.3 + 20)
  })

  test('by position alone there is one row for each partition, and none for each message', async () => {
    const world = await openEffectsWorld(kafka.url, { partitions: 2 })
    const app = await world.start({ dedup: 'position' })
    const producer = world.topic.connect()
    const ids = Array.from({ length: 50 }, (_, index) => `p${index}`)
    await producer.publish(
      ids.map((id) => ({
        id,
        type: 'note.created',
        body: new TextEncoder().encode('{}'),
        headers: {},
        key: id,
        sentAt: new Date(),
      })),
    )
    await vi.waitFor(() => expect(world.effects()).toBe(50), { timeout: 60_000, interval: 100 })
    world.expectOneEffectEach(ids)
    await app.stop()
    expect(countRows(world.config.path)).toEqual({ positions: 2, records: 0 })
  })

  test.each(['position', 'both'] as const)(
    'the database is restored from a backup that knows nothing of the topic yet (%s): every record has taken effect once',
    async (dedup) => {
      const world = await openEffectsWorld(kafka.url, { partitions: 2 })
      const { path } = world.config
      await copyFile(path, `${path}.backup`)
      const before = await world.start({ dedup })
      const ids = Array.from({ length: 20 }, (_, index) => `m${index}`)
      await world.topic.connect().publish(ids.map((id) => outgoing(id, { key: id })))
      await vi.waitFor(() => expect(world.effects()).toBe(ids.length), { timeout: 60_000, interval: 100 })
      await before.stop()
      for (const end of ['', '-wal', '-shm']) await rm(`${path}${end}`, { force: true })
      await copyFile(`${path}.backup`, path)
      expect(world.effects()).toBe(0)
      const after = await world.start({ dedup })
      await vi.waitFor(() => expect(world.effects()).toBe(ids.length), { timeout: 60_000, interval: 100 })
      world.expectOneEffectEach(ids)
      expect(after.events).toContainEqual(
        expect.objectContaining({ kind: 'transport-notice', code: 'POSITION_FORGOTTEN' }),
      )
    },
  )
})

function countRows(path: string): { positions: number; records: number } {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const count = (table: string) => Number(database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.rows)
    return { positions: count('justonce_positions'), records: count('justonce_inbox') }
  } finally {
    database.close()
  }
}
