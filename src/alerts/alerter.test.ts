import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Facts } from '../contracts/index.ts'
import { MemoryDatabase, memoryStore } from '../stores/memory/index.ts'
import { type FakeClock, fakeClock } from '../testing/fake-clock.ts'
import { Alerter, type AlerterParts } from './alerter.ts'
import { type AlertNotice, type AlertOptions, decideAlerts } from './rule.ts'

interface World {
  readonly clock: FakeClock
  value: number
  readonly notices: AlertNotice[]
  /** What a notify was doing when its process was killed: nobody knows whether it has told. */
  readonly interrupted: Set<string>
  start(rules?: readonly AlertOptions[], app?: string): { stop(): Promise<void>; kill(): void }
}

type Break = (facts: Facts<unknown>) => Partial<Facts<unknown>>

function openWorld(breakFacts: Break = () => ({})): World {
  let seed = 1
  const random = (): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  const clock = fakeClock({ random })
  const database = new MemoryDatabase({ clock })
  const interrupted = new Set<string>()
  const notices: AlertNotice[] = []
  const world: World = {
    ...{ clock, notices, interrupted, value: 0 },
    start(rules = [{ when: 'dead-letters', over: 5, forMs: 20_000, notify: () => {} }], app = 'notes') {
      const store = memoryStore({ database })
      let isDead = false
      /** A killed process gets no answer any more, and what it had asked for may have been done. */
      const dying = async <T>(work: () => Promise<T>): Promise<T> => {
        // Both ways take time, so that the rounds of several processes overlap.
        await clock.sleep(random() * 500)
        if (isDead) return await new Promise(() => {})
        const value = await work()
        await clock.sleep(random() * 500)
        return isDead ? await new Promise(() => {}) : value
      }
      const real: Facts<unknown> = { ...store.facts, ...breakFacts(store.facts as Facts<unknown>) } as Facts<unknown>
      const facts = {
        ...real,
        read: (names: readonly string[]) => dying(() => real.read(names)),
        change: ((tx, changes) => dying(() => real.change(tx, changes))) as Facts<unknown>['change'],
      }
      const observed = decideAlerts(rules).map((rule) => ({
        ...rule,
        async notify(notice: AlertNotice) {
          notices.push(notice)
          interrupted.add(notice.id)
          if (typeof rule.notify === 'function') await rule.notify(notice)
          if (!isDead) interrupted.delete(notice.id)
        },
      }))
      const parts: AlerterParts = {
        store: { ...store, facts } as unknown as AlerterParts['store'],
        clock,
        events: { emit: () => {}, listen: () => () => {} },
        app,
        rules: observed,
        measure: async () => () => world.value,
        intend: async () => {},
      }
      const alerter = new Alerter(parts)
      alerter.start()
      return {
        stop: () => alerter.stop(),
        kill() {
          isDead = true
        },
      }
    },
  }
  return world
}

/** What somebody who is told by these notices may complain about. */
function complaints({ notices, interrupted }: World): readonly string[] {
  const told = new Set<string>()
  const found: string[] = []
  let last: AlertNotice | undefined
  for (const notice of notices) {
    if (told.has(notice.id) && !interrupted.has(notice.id)) found.push(`told twice: ${notice.id}`)
    if (!told.has(notice.id) && notice.state === (last?.state ?? 'resolved')) found.push(`${notice.state} again`)
    told.add(notice.id)
    last = notice
  }
  return found
}

async function stopped({ clock }: World, process: ReturnType<World['start']>): Promise<void> {
  const stopping = process.stop()
  await clock.advance(20_000)
  await stopping
}

type Step = { readonly kind: 'start' | 'stop' | 'kill' | 'advance' | 'value'; readonly number: number }

async function run(world: World, steps: readonly Step[]): Promise<void> {
  const running: ReturnType<World['start']>[] = []
  for (const { kind, number } of steps) {
    const chosen = running[number % Math.max(1, running.length)]
    if (kind === 'start' && running.length < 10) running.push(world.start())
    else if (kind === 'value') world.value = number % 2 === 0 ? 10 : 0
    else if (kind === 'advance') await world.clock.advance(number * 1_000)
    else if (chosen !== undefined) {
      if (kind === 'kill') chosen.kill()
      else await stopped(world, chosen)
      running.splice(running.indexOf(chosen), 1)
    }
  }
  running.push(world.start())
  // Longer than the lease of one that was killed, and than every rule takes.
  await world.clock.advance(600_000)
  for (const each of running) each.kill()
}

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom('start', 'stop', 'kill', 'advance', 'advance', 'value') as fc.Arbitrary<Step['kind']>,
    number: fc.nat(90),
  }),
  { minLength: 5, maxLength: 30 },
)

test('however many processes start, stop and die: one notice for each beginning and each end', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (given) => {
      const world = openWorld()
      await run(world, given)
      expect(complaints(world)).toEqual([])
      // In the end everybody knows how it is.
      expect(world.notices.at(-1)?.state ?? 'resolved').toBe(world.value > 5 ? 'firing' : 'resolved')
    }),
    { numRuns: 100, seed: 1 },
  )
})

test.each<[string, Break]>([
  [
    'that says it has written what it has not',
    (facts) => ({ change: async (tx, changes) => (await facts.change(tx, changes)).map((each) => each ?? 1) }),
  ],
  [
    'that writes whatever was there before',
    (facts) => ({
      async change(tx, changes) {
        const known = await facts.read(changes.map(({ name }) => name))
        return await facts.change(
          tx,
          changes.map((each, place) => ({ ...each, from: known[place]?.revision })),
        )
      },
    }),
  ],
])('the same steps catch an alerter on a store %s', async (_, broken) => {
  const outcome = await fc.check(
    fc.asyncProperty(steps, async (given) => {
      const world = openWorld(broken)
      await run(world, given)
      expect(complaints(world)).toEqual([])
    }),
    { numRuns: 100, seed: 1, endOnFailure: true },
  )
  expect(outcome.failed).toBe(true)
})

const dead = { when: 'dead-letters', over: 5 } as const

test('a notify that throws, hangs or is slow is called again with the same notice, five times at most, and holds up no other rule', async () => {
  const world = openWorld()
  world.value = 10
  let calls = 0
  world.start([
    { ...dead, name: 'throws', notify: () => Promise.reject(new Error('no network')) },
    { ...dead, name: 'hangs', notify: () => new Promise(() => {}) },
    { ...dead, name: 'throws first', notify: () => (calls++ === 0 ? Promise.reject(undefined) : undefined) },
    { ...dead, name: 'fine', notify: () => {} },
  ])
  await world.clock.advance(600_000)
  const of = (name: string) => world.notices.filter(({ rule }) => rule === name)
  expect(['throws', 'hangs', 'throws first', 'fine'].map((name) => of(name).length)).toEqual([5, 5, 2, 1])
  for (const name of ['throws', 'hangs']) expect(new Set(of(name).map(({ id }) => id)).size).toBe(1)
})

test('two apps with different rules of one name are told each by its own, and neither disturbs the other', async () => {
  const world = openWorld()
  world.start([{ ...dead, name: 'dead', notify: () => {} }], 'notes')
  world.start([{ ...dead, name: 'dead', over: 100, notify: () => {} }], 'notes')
  world.start([{ ...dead, name: 'dead', notify: () => {} }], 'shop')
  for (const value of [10, 1_000, 10, 0]) {
    world.value = value
    await world.clock.advance(60_000)
  }
  const seen = world.notices.map(({ app, over, state }) => `${app} ${over} ${state}`)
  expect(seen.toSorted()).toEqual(
    [
      'notes 100 firing',
      'notes 100 resolved',
      'notes 5 firing',
      'notes 5 resolved',
      'shop 5 firing',
      'shop 5 resolved',
    ].toSorted(),
  )
})

test('a rule that a deploy removes while it fires says no more; when it comes back, its episode goes on', async () => {
  const world = openWorld()
  world.value = 10
  const rules = [{ ...dead, notify: () => {} }]
  const old = world.start(rules)
  await world.clock.advance(60_000)
  await stopped(world, old)
  const without = world.start([{ when: 'lag', over: 1_000, notify: () => {} }])
  await world.clock.advance(120_000)
  await stopped(world, without)
  world.start(rules)
  await world.clock.advance(120_000)
  world.value = 0
  await world.clock.advance(60_000)
  expect(world.notices.filter(({ when }) => when === 'dead-letters').map(({ state }) => state)).toEqual([
    'firing',
    'resolved',
  ])
})

test('a notify that kills its process is not called for ever, and those behind it are given', async () => {
  const world = openWorld()
  world.value = 10
  for (let life = 0; life < 12; life++) {
    // Resolved while nobody could be told: that notice waits behind the first.
    if (life === 6) world.value = 0
    let kill = () => {}
    const notify = ({ state }: AlertNotice) => (state === 'firing' ? kill() : undefined)
    const process = world.start([{ ...dead, notify }])
    kill = () => process.kill()
    await world.clock.advance(120_000)
    process.kill()
  }
  const of = (wanted: AlertNotice['state']) => world.notices.filter(({ state }) => state === wanted).length
  expect([of('firing'), of('resolved')]).toEqual([5, 1])
})
