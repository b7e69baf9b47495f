import { describe, expect, test } from 'vitest'
import { type CrashPoint, crashPoints } from '../../src/testing/index.ts'
import type { ConsumerChild } from './consumer-child.ts'
import { onPostgres, onRedis } from './stores.ts'
import { exactlyOnce } from './verdict.ts'
import { ids } from './world.ts'

/** While it is frozen its messages become visible, and then the server ends its transaction. */
const times = { visibilityMs: 400, idleTimeoutMs: 1_500 } as const
/** Nothing is taken from the others because a busy machine keeps them from renewing it. */
const patient = { visibilityMs: 10_000, idleTimeoutMs: 20_000 } as const
const message = 'm003'
const committedBy = (point: CrashPoint): boolean => point === 'after-commit' || point === 'after-ack'

describe.each([onPostgres, onRedis])('one of three processes on $name is frozen', (store) => {
  const cases = store.acknowledgings.flatMap((acknowledging) => crashPoints.map((point) => ({ acknowledging, point })))
  test.skipIf(store.isMissing).concurrent.each(cases)(
    '$point, acknowledged $acknowledging: one effect each, also when it thaws',
    async ({ acknowledging, point }) => {
      await using world = await store.open(acknowledging)
      await world.send(ids(12))
      const frozen = world.start({ ...times, batchMax: 5, stops: [{ point, message, how: 'wait' }] })
      await frozen.reached(point)
      await world.freeze(frozen)
      const others = [world.start(patient), world.start(patient)]
      await world.untilDrained()
      expect(await world.verdict()).toEqual(exactlyOnce)

      frozen.go()
      frozen.signal('SIGCONT')
      const fate = committedBy(point) ? 'processed' : 'duplicate'
      await frozen.until(({ event, keys }) => event === fate && keys?.includes(message) === true, `${message} ${fate}`)
      for (const each of others) await each.heard('started')
      for (const each of [frozen, ...others]) await each.stop()
      expect(await world.verdict()).toEqual(exactlyOnce)
      expect(others.some((other) => hasRun(other, message))).toBe(!committedBy(point))
      expect(frozen.all('settled-again')).toEqual([])
    },
  )
})

function hasRun(child: ConsumerChild, id: string): boolean {
  return child.all('running').some((event) => event.message === id)
}
