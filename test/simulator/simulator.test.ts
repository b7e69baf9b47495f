import { describe, expect, test } from 'vitest'
import { crowded } from './crowded.ts'
import { intending, intendingAhead, intendingRetained } from './intending.ts'
import { jumping, jumpingInside, jumpingIntents } from './jumping.ts'
import { loose } from './loose.ts'
import { meddled } from './meddled.ts'
import { museum } from './museum/index.ts'
import { restored, restoredLog } from './restored.ts'
import { dayMs, retainedDeployed } from './retained.ts'
import { type Scenario, scenarioOf, timelessScenario } from './scenario.ts'
import { shrink } from './shrink.ts'
import { catchExhibit, scenarioFor, simulate } from './simulate.ts'
import { story } from './story.ts'
import { bornIn } from './timed-ids.ts'

/** Enough to be noticed at once when something breaks; `npm run simulate` does as many as one likes. */
const seedsInTests = 1_500
/** In parts, so that a busy machine is not taken for a world that never ends. */
const seedsInPart = 300
const parts = Array.from({ length: seedsInTests / seedsInPart }, (_, index) => index * seedsInPart)

/** These only compute: how long they take says how busy the machine is, and nothing else. */
const busyMs = 300_000

/** Seeds that have failed once, for whatever reason, stay. */
const oncefailed = [
  9, 45, 71, 289, 977, 1212, 2094, 500395, 501027, 501866, 503465, 504566, 510838, 515253, 517665, 7000309, 7000485,
  10001098, 10001384, 10005980, 10008836, 10009907, 31001486,
]

/** The same of worlds in which records are removed. */
const onceFailedRetained = [
  26, 53, 202, 287, 291, 295, 1215, 1226, 101459, 102207, 115350, 900436, 906169, 909578, 305401,
]

/** The same of worlds in which the database is the queue, and is restored. */
const onceFailedInside = [3230]

describe('the real engine in the simulator', () => {
  test.each(parts)(
    `${seedsInPart} worlds full of faults, from seed %i on: every message takes effect exactly once`,
    async (from) => {
      const failed: string[] = []
      for (let seed = from; seed < from + seedsInPart; seed++) {
        const { violations } = await simulate(scenarioOf(seed))
        if (violations.length > 0) failed.push(`seed ${seed}: ${violations.join('; ')}`)
      }
      expect(failed).toEqual([])
    },
    busyMs,
  )

  test.each(oncefailed)('seed %i, which has failed before, holds', async (seed) => {
    expect((await simulate(scenarioOf(seed))).violations).toEqual([])
  })

  test.each(onceFailedRetained)('seed %i, which has failed before where records are removed, holds', async (seed) => {
    expect((await simulate(scenarioOf(seed, true))).violations).toEqual([])
  })

  test.each([{ wants: 'nothing back' }, { wants: 'back what has waited for long', ageMs: 1_000 }])(
    'while the database is away it holds what it has: a broker that counts deliveries and wants $wants drops nothing',
    async ({ ageMs }) => {
      const failed: string[] = []
      for (let seed = 0; seed < 100; seed++) {
        const crash = { at: 300 + seed * 10, kind: 'database-crash', ms: 20_000 } as const
        const scenario = { ...scenarioFor({ plain: true, deliveryLimit: 3 }, seed), faults: [], disasters: [crash] }
        const { violations } = await simulate(ageMs === undefined ? scenario : { ...scenario, ageMs })
        failed.push(...violations.map((violation) => `seed ${seed}: ${violation}`))
      }
      expect(failed).toEqual([])
    },
    busyMs,
  )

  test(
    'where nothing goes wrong, whatever arrives in time takes effect, however late its copies are',
    async () => {
      const lost: string[] = []
      let inTime = 0
      for (let seed = 0; seed < 150; seed++) {
        const { messages, ...scenario } = { ...scenarioOf(seed, true), faults: [], disasters: [] }
        const good = messages.map((message) => ({ ...message, behaviour: 'good' as const }))
        const { world } = await simulate({ ...scenario, messages: good })
        const effects = new Set(world.database.scan(undefined, 'effects').map(({ row }) => row.message))
        const night = scenario.retention?.leaps[0]?.at ?? 0
        for (const { id, sentAt } of good) {
          const firstAt = Math.min(...sentAt)
          const born = bornIn(id) ?? firstAt
          if (firstAt > night - 3_000 || born > firstAt || born < firstAt - dayMs + 10_000) continue
          inTime++
          if (!effects.has(id)) lost.push(`seed ${seed}: ${id}`)
        }
      }
      expect(lost).toEqual([])
      expect(inTime).toBeGreaterThan(100)
    },
    busyMs,
  )

  test(
    'a handler that fails on everything, slow ones and lost connections starve nobody else',
    async () => {
      const failed: string[] = []
      for (let seed = 0; seed < 60; seed++) {
        const { violations } = await simulate(crowded(scenarioOf(seed, false, false)))
        if (violations.length > 0) failed.push(`seed ${seed}: ${violations.join('; ')}`)
      }
      expect(failed).toEqual([])
    },
    busyMs,
  )

  test(
    'connections that others use, and leave in another place or with an open transaction, do no harm',
    async () => {
      const failed: string[] = []
      for (let seed = 0; seed < 150; seed++) {
        const { violations } = await simulate(meddled(scenarioOf(seed)))
        if (violations.length > 0) failed.push(`seed ${seed}: ${violations.join('; ')}`)
      }
      expect(failed).toEqual([])
    },
    busyMs,
  )

  test(
    'three processes that are replaced by ones with a renamed handler, while records are removed: nothing runs again',
    async () => {
      const failed: string[] = []
      for (let seed = 0; seed < 30; seed++) {
        const { violations } = await simulate(retainedDeployed(timelessScenario(seed)))
        if (violations.length > 0) failed.push(`seed ${seed}: ${violations.join('; ')}`)
      }
      expect(failed).toEqual([])
    },
    busyMs,
  )

  test.each<{ world: string; scenario: (seed: number) => Scenario }>([
    { world: 'while records are removed', scenario: (seed) => jumping(scenarioOf(seed, false, false)) },
    { world: 'while holders of its queue die', scenario: (seed) => jumpingInside(timelessScenario(seed)) },
  ])(
    'a clock of the database that is ahead for a while $world does no lasting damage',
    async ({ scenario }) => {
      const failed: string[] = []
      for (let seed = 0; seed < 150; seed++) {
        const { violations } = await simulate(scenario(seed))
        if (violations.length > 0) failed.push(`seed ${seed}: ${violations.join('; ')}`)
      }
      expect(failed).toEqual([])
    },
    busyMs,
  )

  test(
    'backups that are restored while everything goes wrong: what is replayed takes effect exactly once',
    async () => {
      const failed: string[] = []
      for (let seed = 0; seed < 150; seed++) {
        const { violations } = await simulate(scenarioOf(seed, false, true))
        if (violations.length > 0) failed.push(`seed ${seed}: ${violations.join('; ')}`)
      }
      expect(failed).toEqual([])
    },
    busyMs,
  )

  test.each<{ world: string; scenario: (seed: number) => Scenario }>([
    { world: 'while everything goes wrong', scenario: (seed) => intending(timelessScenario(seed)) },
    { world: 'and the clock of the database is ahead', scenario: (seed) => intendingAhead(timelessScenario(seed)) },
    { world: 'and a backup is restored', scenario: (seed) => intending(restored(timelessScenario(seed))) },
    { world: 'and records are removed', scenario: (seed) => intendingRetained(timelessScenario(seed)) },
    { world: 'and the clock is ahead by days', scenario: (seed) => jumpingIntents(timelessScenario(seed)) },
  ])(
    'handlers intend calls to the outside $world: each is made as its effect promises, and none is forgotten',
    async ({ scenario }) => {
      const failed: string[] = []
      for (let seed = 0; seed < 40; seed++) {
        const { violations } = await simulate(scenario(seed))
        if (violations.length > 0) failed.push(`seed ${seed}: ${violations.join('; ')}`)
      }
      expect(failed).toEqual([])
    },
    busyMs,
  )

  test.each<{ world: string; scenario: (seed: number) => Scenario; outside?: boolean }>([
    { world: 'while everything goes wrong', scenario: timelessScenario },
    { world: 'and a backup is restored', scenario: (seed) => restored(timelessScenario(seed)) },
    { world: 'and the queue is restored with it', scenario: (seed) => scenarioOf(seed, false, true, true) },
    { world: 'and without a transaction', scenario: timelessScenario, outside: true },
  ])(
    'a handler that is content with at least once, before one that is not, $world: none is left out, and the other runs once',
    async ({ scenario, outside }) => {
      const failed: string[] = []
      for (let seed = 0; seed < 40; seed++) {
        const { violations } = await simulate(loose(scenario(seed), outside))
        if (violations.length > 0) failed.push(`seed ${seed}: ${violations.join('; ')}`)
      }
      expect(failed).toEqual([])
    },
    busyMs,
  )

  test.each([
    { world: 'while everything goes wrong', isRestored: false },
    { world: 'and is restored while processes hold messages of it', isRestored: true },
  ])(
    'the database is the queue $world: what it knows takes effect exactly once, and nothing else does',
    async ({ isRestored }) => {
      const failed: string[] = []
      for (let seed = 0; seed < 100; seed++) {
        const { violations } = await simulate(scenarioOf(seed, false, isRestored, true))
        if (violations.length > 0) failed.push(`seed ${seed}: ${violations.join('; ')}`)
      }
      expect(failed).toEqual([])
    },
    busyMs,
  )

  test.each(onceFailedInside)('seed %i, which has failed before where a queue is restored, holds', async (seed) => {
    expect((await simulate(scenarioOf(seed, false, true, true))).violations).toEqual([])
  })

  test(
    'backups that are older than the first position of a partition: what the database has lost is read again from the log',
    async () => {
      const failed: string[] = []
      for (let seed = 0; seed < 150; seed++) {
        const { violations } = await simulate(restoredLog(scenarioOf(seed, false, false)))
        if (violations.length > 0) failed.push(`seed ${seed}: ${violations.join('; ')}`)
      }
      expect(failed).toEqual([])
    },
    busyMs,
  )

  test('a message of a queue that is too large to wait in the store is handled when the dead letter before it has gone', async () => {
    const common = { type: 'ordered', key: 'k0' } as const
    const { world, violations } = await simulate({
      ...scenarioFor({ plain: true }, 0),
      whenDead: 'block',
      order: 'keep',
      mendedAt: 200_000,
      messages: [
        { ...common, id: 'm0', behaviour: 'throws-always', sentAt: [0] },
        { ...common, id: 'm1', behaviour: 'good', large: true, sentAt: [1_000] },
      ],
      faults: [],
      disasters: [],
    })
    expect(violations).toEqual([])
    const effects = world.database.scan(undefined, 'effects').map(({ row }) => row.message)
    expect(effects).toEqual(['m0', 'm1'])
  })

  test('a seed replays exactly', async () => {
    const traces = await Promise.all([runTrace(18), runTrace(18)])
    expect(traces[0]).toEqual(traces[1])
    expect(traces[0]?.length).toBeGreaterThan(50)
  })
})

describe('the museum: consumers that break the promise are caught', () => {
  test.each(museum)(
    '$name',
    async (exhibit) => {
      const caught = await catchExhibit(exhibit, 1_000)
      expect(caught?.violations[0]).toMatch(new RegExp(`^${exhibit.caughtAs}: `))
    },
    busyMs,
  )

  test(
    'a failing world is made small and reported in a page',
    async () => {
      const exhibit = museum.find(({ name }) => name === 'run-then-mark') as (typeof museum)[number]
      const seed = (await catchExhibit(exhibit, 400))?.seed as number
      const large = scenarioFor(exhibit, seed)
      const small = await shrink(large, exhibit.program, exhibit.caughtAs)
      expect(small.messages.length).toBe(1)
      expect(small.faults.length + small.disasters.length).toBeLessThanOrEqual(
        large.faults.length + large.disasters.length,
      )
      const told = story(await simulate(small, exhibit.program, true))
      expect(told).toContain('DOUBLED: one|')
      expect(told.split('\n').length).toBeLessThan(150)
    },
    busyMs,
  )
})

async function runTrace(seed: number): Promise<readonly string[]> {
  return (await simulate(scenarioOf(seed), undefined, true)).world.scheduler.trace
}
