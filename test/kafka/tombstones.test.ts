import { describe, expect, test, vi } from 'vitest'
import { requireServer } from '../servers/require.ts'
import { openEffectsWorld } from './effects-world.ts'
import { sendRaw } from './raw-records.ts'

vi.setConfig({ testTimeout: 60_000 })
const kafka = await requireServer('kafka')

describe.skipIf(!kafka.available)('records without a body', () => {
  test.each(['id', 'position'] as const)('reach the handler like any other (%s)', async (dedup) => {
    const world = await openEffectsWorld(kafka.url, { partitions: 1 })
    const app = await world.start({ dedup })
    const event = (id: string) =>
      new Map([
        [Buffer.from('ce_id'), Buffer.from(id)],
        [Buffer.from('ce_type'), Buffer.from('note.created')],
      ])
    const key = Buffer.from('k1')
    await sendRaw(world.topic, [
      { key, value: Buffer.from('{}'), headers: event('made') },
      { key, value: null, headers: event('deleted') },
    ])
    await world.drained()
    expect(app.events.filter(({ kind }) => kind === 'parked')).toEqual([])
    world.expectOneEffectEach(['made', 'deleted'])
  })
})
