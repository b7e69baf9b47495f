import { describe, expect, test } from 'vitest'
import type { CrashPoint } from '../../src/testing/index.ts'
import type { ConsumerChild } from '../crash/consumer-child.ts'
import '../crash/long-tests.ts'
import { kafkaBroker } from '../crash/real-brokers.ts'
import { openWorld } from '../crash/world.ts'
import { requireServer } from '../servers/require.ts'
import { expectOnceInOrder, idOf, keysOfPartitions, sendNumbers } from './partition-order.ts'

const kafka = await requireServer('kafka')
const postgres = await requireServer('postgres')

/** The database ends the transaction of a frozen process after so long; its partitions are with another by then. */
const settings = { idleTimeoutMs: 1_500, batchMax: 4, publishes: false } as const
const patienceMs = 60_000
const keys = keysOfPartitions(2)
const stuck = idOf(keys[0] as string, 3)

type Moment = CrashPoint | 'fetched'
const moments: readonly Moment[] = ['fetched', 'between-writes', 'before-commit']
const moreMoments: readonly Moment[] = ['before-claim', 'after-claim', 'after-commit']
/** `JUSTONCE_LONG_TESTS=1` asks for all of them. */
const chosen = process.env.JUSTONCE_LONG_TESTS === '1' ? [...moments, ...moreMoments] : moments
const cases = (['position', 'both'] as const).flatMap((dedup) => chosen.map((moment) => ({ dedup, moment })))

describe.skipIf(!kafka.available || !postgres.available)('a process that is frozen until others have its work', () => {
  test.concurrent.each(cases)(
    '$moment, known by $dedup: it wakes up, has no effect and goes on working',
    async ({ dedup, moment }) => {
      const broker = await kafkaBroker(kafka.url, { dedup, partitions: keys.length })
      await using world = await openWorld({ acknowledging: 'separate', broker, postgresUrl: postgres.url })
      await sendNumbers(world, keys, 1, 6)
      const zombie = world.start({
        ...settings,
        ...(moment === 'fetched'
          ? { waitsWhenDelivered: true }
          : { stops: [{ point: moment, message: stuck, how: 'wait' }] }),
      })
      await (moment === 'fetched' ? zombie.heard('delivered') : zombie.reached(moment))
      await world.freeze(zombie)

      await sendNumbers(world, keys, 7, 9)
      const heir = world.start(settings)
      await world.untilDrained(patienceMs)
      await expectOnceInOrder(world, keys, 9)
      expect(hasRun(heir, stuck)).toBe(moment !== 'after-commit')

      zombie.go()
      zombie.signal('SIGCONT')
      await sendNumbers(world, keys, 10, 12)
      await world.untilDrained(patienceMs)
      await heir.stop()
      await sendNumbers(world, keys, 13, 15)
      await world.untilDrained(patienceMs)
      for (const key of keys) expect(hasRun(zombie, idOf(key, 15))).toBe(true)
      await zombie.stop()
      await expectOnceInOrder(world, keys, 15)
      expect(await world.remaining()).toEqual({ queued: 0, outgoing: 0, parked: 0 })
      expect(zombie.all('settled-again')).toEqual([])
      // Nobody has died: a comparison that the zombie has lost must not count as an attempt at a killer.
      expect(await world.store.facts.list('suspect', 100)).toEqual([])
    },
  )
})

function hasRun(child: ConsumerChild, id: string): boolean {
  return child.all('running').some((event) => event.message === id)
}
