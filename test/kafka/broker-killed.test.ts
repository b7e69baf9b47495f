import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type KafkaServer, startKafka } from '../servers/kafka.ts'
import { requireBinaries } from '../servers/require.ts'
import { openEffectsWorld } from './effects-world.ts'

vi.setConfig({ testTimeout: 120_000 })
const kafka = await requireBinaries('kafka')

describe.skipIf(!kafka.available)('a broker that is killed', () => {
  let server: KafkaServer
  beforeAll(async () => {
    server = await startKafka()
  })
  afterAll(() => server?.stop())

  test('and comes back mid-flight: the consumer goes on by itself, with one effect each', async () => {
    const world = await openEffectsWorld(server.url)
    const app = await world.start()
    let kills = 0
    const ids = await world.send(3_000, async (sent) => {
      if (kills > 0 || sent < 1_000) return
      await vi.waitFor(() => expect(world.effects()).toBeGreaterThan(0), { timeout: 20_000 })
      kills++
      await server.kill9()
      await server.restart()
    })
    await world.drained()
    expect(kills).toBe(1)
    expect(app.errors.length).toBeGreaterThan(0)
    world.expectOneEffectEach(ids)
  })

  test('does not keep an app from stopping, and what was not committed comes again', async () => {
    const world = await openEffectsWorld(server.url)
    const app = await world.start()
    const sending = world.send(500)
    await vi.waitFor(() => expect(world.effects()).toBeGreaterThan(0), { timeout: 20_000 })
    await server.kill9()
    await app.stop()
    await server.restart()
    await world.start()
    const ids = await sending
    await world.drained()
    world.expectOneEffectEach(ids)
  })
})
