import { describe, expect, test } from 'vitest'
import type { ConsumerConfig } from './fixtures/consumer-config.ts'
import { onPostgres, onRedis, onSqlite } from './stores.ts'
import { exactlyOnce } from './verdict.ts'
import { ids, type World } from './world.ts'

const visibilityMs = 250
/** However slow this machine is, nobody gets the claims of a process that lives. */
const idleTimeoutMs = 20_000
// In SQLite with the queue inside nobody can take while a handler runs: there is one writer at a time.
const cases = [
  { store: onSqlite, name: 'sqlite', acknowledging: 'separate' },
  { store: onPostgres, name: 'postgres', acknowledging: 'separate' },
  { store: onPostgres, name: 'postgres', acknowledging: 'inside' },
  { store: onRedis, name: 'redis', acknowledging: 'separate' },
] as const

/** A slow handler whose message has become visible again, and the process that got it for the second time. */
async function slowAndRival(world: World, config: Partial<ConsumerConfig> = {}) {
  await world.send(ids(1))
  const stops = [{ point: 'between-writes', how: 'wait' }] as const
  // It takes its own message again and again, too, but not for long if it can do only one thing at a time.
  const slow = world.start({ visibilityMs, renews: false, concurrency: 1, stops, ...config })
  await slow.reached('between-writes')
  const rival = world.start({ visibilityMs, idleTimeoutMs })
  const { counts } = await rival.heard('delivered')
  expect(counts?.[0]).toBeGreaterThan(1)
  return { slow, rival }
}

for (const { store, name, acknowledging } of cases) {
  describe.skipIf(store.isMissing)(
    `visible again while its handler runs on ${name}, acknowledged ${acknowledging}`,
    () => {
      test.concurrent('the slow one finishes: the second copy is a duplicate', async () => {
        await using world = await store.open(acknowledging)
        const { slow, rival } = await slowAndRival(world, { idleTimeoutMs })
        slow.go()
        await world.untilDrained()
        await rival.until(({ event, keys }) => event === 'duplicate' && keys?.includes('m001') === true, 'a duplicate')
        expect(await world.verdict()).toEqual(exactlyOnce)
        expect(rival.all('running')).toEqual([])
      })

      test.concurrent('the slow one is killed: the other does it', async () => {
        await using world = await store.open(acknowledging)
        const { slow, rival } = await slowAndRival(world)
        await slow.kill()
        await world.untilDrained()
        expect(await world.verdict()).toEqual(exactlyOnce)
        // What it says may come later than what it does.
        await rival.stop()
        expect(rival.all('running').length).toBe(1)
      })
    },
  )
}
