import { describe, expect, test } from 'vitest'
import { brokenReservations } from '../museum/broken-reservations.ts'
import { planOf } from './plan.ts'
import { outcomesTable } from './real-app.ts'
import { simulateReservations } from './simulate.ts'

/** These only compute: how long they take says how busy the machine is, and nothing else. */
const busyMs = 300_000

describe('reservations in two databases, in the simulator', () => {
  test.each([
    { world: 'coordinators die, freeze and are cut off', isRestored: false, isHaunted: false },
    { world: 'frozen processes wake up after others have decided', isRestored: false, isHaunted: true },
    { world: 'the database that knows the decisions is restored', isRestored: true, isHaunted: false },
  ])(
    '$world: every order gets everything or nothing',
    async ({ isRestored, isHaunted }) => {
      const failed: string[] = []
      const outcomes: unknown[] = []
      for (let seed = 0; seed < 150; seed++) {
        const { violations, world } = await simulateReservations(planOf(seed, isRestored, isHaunted))
        if (violations.length > 0) failed.push(`seed ${seed}: ${violations.join('; ')}`)
        outcomes.push(...world.databases.orders.scan(undefined, outcomesTable).map(({ row }) => row.outcome))
      }
      expect(failed).toEqual([])
      // Otherwise half of it was never tried.
      for (const outcome of ['confirmed', 'cancelled'])
        expect(outcomes.filter((each) => each === outcome).length).toBeGreaterThan(20)
    },
    busyMs,
  )

  test.each(onceFailed())('seed %i, which has failed before where a backup is restored, holds', async (seed) => {
    expect((await simulateReservations(planOf(seed, true, false))).violations).toEqual([])
  })
})

describe('the museum: reservations that do not take everything or nothing are caught', () => {
  test.each(brokenReservations)(
    '$name',
    async ({ caughtAs, isRestored = false, isHaunted = false, ...broken }) => {
      const caught: string[] = []
      for (let seed = 0; seed < 1_000 && caught.length === 0; seed++) {
        const { violations } = await simulateReservations(planOf(seed, isRestored, isHaunted), broken)
        caught.push(...violations.filter((violation) => violation.startsWith(`${caughtAs}: `)))
      }
      expect(caught).not.toEqual([])
    },
    busyMs,
  )
})

function onceFailed(): readonly number[] {
  return [64, 159, 170]
}
