import { describe, expect, test, vi } from 'vitest'
import { requireServer } from '../servers/require.ts'
import { startConsumerProcess } from './consumer-process.ts'
import { openEffectsWorld } from './effects-world.ts'

vi.setConfig({ testTimeout: 120_000 })
const kafka = await requireServer('kafka')

describe.skipIf(!kafka.available)('a message that kills its process', () => {
  test('is found although Kafka marks no redeliveries, and the partition goes on without it', async () => {
    const world = await openEffectsWorld(kafka.url, { partitions: 1 })
    const ids = await world.send(50)
    const config = { ...world.config, poison: 'm20', transport: { sessionTimeoutMs: 1_000 } }
    const drained = world.drained(100_000).then(() => 'drained')
    let deaths = 0
    for (;;) {
      const process = await startConsumerProcess(config)
      if ((await Promise.race([process.ended.then(() => 'died'), drained])) === 'drained') break
      deaths++
    }
    // As many as a handler has attempts, and not one for each restart for ever.
    expect(deaths).toBeGreaterThanOrEqual(3)
    expect(deaths).toBeLessThanOrEqual(8)
    world.expectOneEffectEach(ids.filter((id) => id !== 'm20'))
  })
})
