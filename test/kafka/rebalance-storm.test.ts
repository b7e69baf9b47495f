import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { requireServer } from '../servers/require.ts'
import type { ConsumingApp } from './consuming-app.ts'
import { openEffectsWorld } from './effects-world.ts'

vi.setConfig({ testTimeout: 300_000 })
const kafka = await requireServer('kafka')

describe.skipIf(!kafka.available)('rebalances', () => {
  test('consumers that come and go every second leave one effect each', async () => {
    const world = await openEffectsWorld(kafka.url, { partitions: 6 })
    const running: ConsumingApp[] = [await world.start()]
    const storm = { isOver: false, changes: 0 }
    const blow = async (): Promise<void> => {
      while (!storm.isOver) {
        await pause(1_000)
        if (running.length < 3) running.push(await world.start())
        else await running.shift()?.stop()
        storm.changes++
      }
    }
    const blowing = blow()
    const ids = await world.send(4_000, async () => {
      const wanted = storm.changes + 1
      await vi.waitFor(() => expect(storm.changes).toBeGreaterThanOrEqual(wanted), { timeout: 30_000 })
    })
    storm.isOver = true
    await blowing
    await world.drained()
    expect(storm.changes).toBeGreaterThan(5)
    world.expectOneEffectEach(ids)
  })
})
