import { describe, expect, test } from 'vitest'
import { brokenOutgoing } from '../museum/broken-outgoing.ts'
import { planOf } from './plan.ts'
import { simulateOutgoing } from './simulate.ts'

/** These only compute: how long they take says how busy the machine is, and nothing else. */
const busyMs = 300_000

describe('two apps whose messages leave one database, in the simulator', () => {
  test.each([
    { world: 'faults, outages and nights without a process', isRestored: false, isJumping: false, seeds: 80 },
    { world: 'a backup that is restored', isRestored: true, isJumping: false, seeds: 50 },
    { world: "a database's clock that is ahead for a while", isRestored: false, isJumping: true, seeds: 50 },
  ])(
    '$world: what is published leaves once, in time and in order, or is cancelled, and each tick has one message',
    async ({ isRestored, isJumping, seeds }) => {
      const failed: string[] = []
      let [ticks, cancelled] = [0, 0]
      for (let seed = 0; seed < seeds; seed++) {
        const { violations, world } = await simulateOutgoing(planOf(seed, isRestored, isJumping))
        if (violations.length > 0) failed.push(`seed ${seed}: ${violations.join('; ')}`)
        const arrived = Object.values(world.outlets).flatMap((outlet) => outlet.arrived)
        ticks += arrived.filter(({ message }) => message.type.endsWith('.tick')).length
        cancelled += world.database.scan(undefined, 'cancelled').filter(({ row }) => row.isCancelled).length
      }
      expect(failed).toEqual([])
      // Otherwise it was never tried.
      expect(ticks).toBeGreaterThan(seeds)
      expect(cancelled).toBeGreaterThan(5)
    },
    busyMs,
  )
})

describe('the museum: messages that leave as they should not are caught', () => {
  test.each(brokenOutgoing)(
    '$name',
    async ({ caughtAs, isRestored = false, program }) => {
      const caught: string[] = []
      for (let seed = 0; seed < 500 && caught.length === 0; seed++) {
        const { violations } = await simulateOutgoing(planOf(seed, isRestored, false), program)
        caught.push(...violations.filter((violation) => violation.startsWith(`${caughtAs}: `)))
      }
      expect(caught).not.toEqual([])
    },
    busyMs,
  )
})
