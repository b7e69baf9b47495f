import { describe, expect, test } from 'vitest'
import type { CrashPoint } from '../../src/testing/index.ts'
import { stores } from './stores.ts'
import { exactlyOnce } from './verdict.ts'
import { type Acknowledging, ids } from './world.ts'

/** More attempts than there are deaths: where one process starts after the other, all may die with the same message. */
const config = { visibilityMs: 400, batchMax: 5, attempts: 10 } as const
/** Those that stay must not lose to each other what a busy machine keeps them from renewing. */
const patient = { ...config, visibilityMs: 10_000 }
const all: readonly { point: CrashPoint; acknowledging: Acknowledging }[] = [
  { point: 'between-writes', acknowledging: 'inside' },
  { point: 'before-commit', acknowledging: 'separate' },
  { point: 'after-commit', acknowledging: 'separate' },
]

describe.each(stores)('three processes on $name', (store) => {
  const cases = all.filter(({ acknowledging }) => store.acknowledgings.includes(acknowledging))
  test.skipIf(store.isMissing).concurrent.each(cases)(
    'each is killed $point, acknowledged $acknowledging, and three others take over: one effect each',
    async ({ point, acknowledging }) => {
      await using world = await store.open(acknowledging)
      await world.send(ids(60))
      const dying = Array.from({ length: 3 }, () => world.start({ ...config, stops: [{ point, how: 'die' }] }))
      for (const each of dying) {
        await each.reached(point)
        expect(await each.ended).toEqual({ code: null, signal: 'SIGKILL' })
      }
      const next = Array.from({ length: 3 }, () => world.start(patient))
      await world.untilDrained()
      for (const each of next) await each.heard('started')
      for (const each of next) await each.stop()
      expect(await world.verdict()).toEqual(exactlyOnce)
    },
  )
})
