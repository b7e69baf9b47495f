import { describe, expect, test } from 'vitest'
import type { ConsumerChild } from './consumer-child.ts'
import { onPostgres, onRedis } from './stores.ts'
import { exactlyOnce } from './verdict.ts'

const visibilityMs = 400
/** Long enough for the other process to start on a busy machine while the claim is still held. */
const idleTimeoutMs = 9_000

describe.each([onPostgres, onRedis])('a process frozen with a claim open on $name', (store) => {
  test.skipIf(store.isMissing).concurrent.each(store.acknowledgings)(
    'acknowledged %s: others flow, its message is done by another, and it does nothing when it thaws',
    async (acknowledging) => {
      await using world = await store.open(acknowledging)
      const stops = [{ point: 'between-writes', message: 'stuck', how: 'wait' }] as const
      await world.send(['stuck'])
      const frozen = world.start({ visibilityMs, idleTimeoutMs, stops })
      await frozen.reached('between-writes')
      await world.freeze(frozen)
      await world.send(['flows-1', 'flows-2', 'flows-3'])

      const other = world.start({ visibilityMs, idleTimeoutMs })
      await other.until(({ event, keys }) => event === 'claim-held' && keys?.includes('stuck') === true, 'held claim')
      await world.untilDrained()
      // It says so after it has answered the broker.
      await other.until(
        ({ event, keys }) => event === 'processed' && keys?.includes('stuck') === true,
        'stuck processed',
      )
      const doneAt = (key: string) => indexOf(other, 'processed', key)
      for (const key of ['flows-1', 'flows-2', 'flows-3']) expect(doneAt(key)).toBeLessThan(doneAt('stuck'))
      expect(await world.verdict()).toEqual(exactlyOnce)

      frozen.go()
      frozen.signal('SIGCONT')
      await frozen.until(({ event, keys }) => event === 'duplicate' && keys?.includes('stuck') === true, 'a duplicate')
      await frozen.stop()
      expect(await world.verdict()).toEqual(exactlyOnce)
      expect(indexOf(frozen, 'processed', 'stuck')).toBe(-1)
    },
  )
})

function indexOf(child: ConsumerChild, name: string, key: string): number {
  return child.events.findIndex(({ event, keys }) => event === name && keys?.includes(key) === true)
}
