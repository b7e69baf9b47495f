import { describe, expect, test, vi } from 'vitest'
import { requireServer } from '../servers/require.ts'
import { startConsumerProcess } from './consumer-process.ts'
import { openEffectsWorld } from './effects-world.ts'

vi.setConfig({ testTimeout: 180_000 })
const kafka = await requireServer('kafka')
const count = process.env.JUSTONCE_LONG_TESTS === undefined ? 2_000 : 10_000

describe.skipIf(!kafka.available)('two processes in one group', () => {
  test(`one of them is killed: ${count} messages with 30 % duplicates have one effect each`, async () => {
    const world = await openEffectsWorld(kafka.url)
    const config = { ...world.config, transport: { sessionTimeoutMs: 2_000 } }
    const [victim] = await Promise.all([startConsumerProcess(config), startConsumerProcess(config)])
    let isKilled = false
    const ids = await world.send(count, async () => {
      if (isKilled || world.effects() < count / 10) return
      isKilled = true
      victim.kill()
    })
    if (!isKilled) {
      await vi.waitFor(() => expect(world.effects()).toBeGreaterThan(count / 10), { timeout: 30_000 })
      victim.kill()
    }
    await world.drained(120_000)
    world.expectOneEffectEach(ids)
  })
})
