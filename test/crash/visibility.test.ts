import { describe, expect, test } from 'vitest'
import { onPostgres, onSqlite } from './stores.ts'
import { exactlyOnce } from './verdict.ts'
import { ids, type World } from './world.ts'

const visibilityMs = 250
// In SQLite with the queue inside nobody can take while a handler runs: there is one writer at a time.
const cases = [
  { store: onSqlite, name: 'sqlite', acknowledging: 'separate' },
  { store: onPostgres, name: 'postgres', acknowledging: 'separate' },
  { store: onPostgres, name: 'postgres', acknowledging: 'inside' },
] as const

/** A slow handler whose message has become visible again, and the process that got it for the second time. */
async function slowAndRival(world: World) {
  await world.send(ids(1))
  const slow = world.start({ visibilityMs, renews: false, stops: [{ point: 'between-writes', how: 'wait' }] })
  await slow.reached('between-writes')
  const rival = world.start({ visibilityMs })
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
        const { slow, rival } = await slowAndRival(world)
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
        expect(rival.all('running').length).toBe(1)
      })
    },
  )
}
