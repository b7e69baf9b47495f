import { describe, expect, test, vi } from 'vitest'
import { requireServer } from '../servers/require.ts'
import { openEffectsWorld } from './effects-world.ts'

vi.setConfig({ testTimeout: 90_000 })
const kafka = await requireServer('kafka')

describe.skipIf(!kafka.available)('an operator', () => {
  test('sets the group back to zero: everything comes again and nothing happens twice', async () => {
    const world = await openEffectsWorld(kafka.url, { partitions: 2 })
    const before = await world.start()
    const ids = await world.send(500)
    await world.drained()
    await before.stop()
    const { name, group } = world.topic
    const partitionOffsets = [0, 1].map((partition) => ({ partition, offset: 0n }))
    await world.topic.admin((admin) =>
      admin.alterConsumerGroupOffsets({ groupId: group, topics: [{ name, partitionOffsets }] }),
    )
    const after = await world.start()
    await world.drained()
    const duplicates = after.events.filter(({ kind }) => kind === 'duplicate')
    expect(duplicates.length).toBeGreaterThanOrEqual(ids.length)
    world.expectOneEffectEach(ids)
  })
})
