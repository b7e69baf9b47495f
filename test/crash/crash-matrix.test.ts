import { describe, expect, test } from 'vitest'
import { type CrashPoint, crashPoints } from '../../src/testing/index.ts'
import type { ConsumerChild } from './consumer-child.ts'
import { onPostgres, onPostgresJs, onRedis, stores } from './stores.ts'
import { exactlyOnce } from './verdict.ts'
import { type Acknowledging, ids } from './world.ts'

const sizes = [1, 20]
const visibilityMs = 400
/** Where nothing must come back: a process that is starved for a moment must not lose what it is about to acknowledge. */
const patientVisibilityMs = 2_000
/** A batch that was slow must not make the next one so small that the message is alone in it. */
const batchBudgetMs = 600_000

describe.each(stores)('killed on $name', (store) => {
  const cases = store.acknowledgings.flatMap((acknowledging) =>
    sizes.flatMap((size) => crashPoints.map((point) => ({ acknowledging, size, point }))),
  )
  test.skipIf(store.isMissing).concurrent.each(cases)(
    '$point, $size sent, acknowledged $acknowledging: one effect each',
    async ({ acknowledging, size, point }) => {
      await using world = await store.open(acknowledging)
      const sent = ids(size)
      // Not in the first batch, so that some are done, some are running and some wait.
      const message = sent[Math.floor(size * 0.7)] as string
      await world.send(sent)

      const fate = expectedAfter(point, acknowledging)
      const times = { visibilityMs: fate === 'not delivered' ? patientVisibilityMs : visibilityMs, batchBudgetMs }
      // Batches that run beside others start with one message.
      const dying = world.start({ ...times, concurrency: 1, stops: [{ point, message, how: 'die' }] })
      const { keys = [] } = await dying.reached(point)
      expect(await dying.ended).toEqual({ code: null, signal: 'SIGKILL' })
      expect(keys).toContain(message)
      if (size > 1 && point !== 'between-writes') expect(keys.length).toBeGreaterThan(1)

      const next = world.start({ visibilityMs: patientVisibilityMs })
      await world.untilDrained()
      expect(await world.verdict()).toEqual(exactlyOnce)
      await next.stop()
      expect(whatBecameOf(message, next)).toBe(fate)
    },
  )
})

// SQLite has one writer at a time.
describe.each([onPostgres, onRedis])('killed on $name with four batches open at once', (store) => {
  test.skipIf(store.isMissing)('one effect each', async () => {
    await using world = await store.open('separate')
    await world.send(ids(20))
    const firsts = ['m001', 'm006', 'm011', 'm016']
    const stops = firsts.map((message) => ({ point: 'between-writes', message, how: 'wait' }) as const)
    const dying = world.start({ visibilityMs, concurrency: 4, batchMax: 5, stops })
    for (const first of firsts) {
      await dying.until(({ event, keys }) => event === 'reached' && keys?.includes(first) === true, `${first} runs`)
    }
    expect(await dying.kill()).toEqual({ code: null, signal: 'SIGKILL' })

    world.start({ visibilityMs })
    await world.untilDrained()
    expect(await world.verdict()).toEqual(exactlyOnce)
  })
})

describe.each([onPostgres, onPostgresJs])('killed on $name while messages interleave', (store) => {
  const interleaving = ['record', 'follow'] as const
  const next = { visibilityMs: patientVisibilityMs, interleaving, failing: ['m002', 'm013'] }

  test.skipIf(store.isMissing)('between the writes of several: one effect each', async () => {
    await using world = await store.open('inside')
    await world.send(ids(20))
    const stops = ids(20).map((message) => ({ point: 'between-writes', message, how: 'wait' }) as const)
    const dying = world.start({ visibilityMs, batchBudgetMs, concurrency: 1, interleaving, stops })
    // The first batch has one message.
    await dying.reached('between-writes')
    dying.go()
    const inHand = () => dying.all('reached').flatMap(({ keys = [] }) => keys)
    await dying.until(() => inHand().length >= 3, 'two of a batch are between their writes')
    expect(await dying.kill()).toEqual({ code: null, signal: 'SIGKILL' })

    world.start(next)
    await world.untilDrained()
    expect(await world.verdict()).toEqual(exactlyOnce)
  })

  test.skipIf(store.isMissing).each(['before-commit', 'after-commit'] as const)(
    '%s: one effect each',
    async (point) => {
      await using world = await store.open('separate')
      await world.send(ids(20))
      const stops = [{ point, message: 'm014', how: 'die' }] as const
      const dying = world.start({ visibilityMs, batchBudgetMs, concurrency: 1, interleaving, stops })
      const { keys = [] } = await dying.reached(point)
      expect(await dying.ended).toEqual({ code: null, signal: 'SIGKILL' })
      expect(keys.length).toBeGreaterThan(1)

      const successor = world.start(next)
      await world.untilDrained()
      expect(await world.verdict()).toEqual(exactlyOnce)
      await successor.stop()
      expect(whatBecameOf('m014', successor)).toBe(expectedAfter(point, 'separate'))
    },
  )
})

type Fate = 'run' | 'duplicate' | 'not delivered'

/** The proof that the crash was where its name says. */
function expectedAfter(point: CrashPoint, acknowledging: Acknowledging): Fate {
  if (point === 'after-ack') return 'not delivered'
  if (point !== 'after-commit') return 'run'
  // The acknowledgement is part of the commit: there is no moment between them.
  return acknowledging === 'inside' ? 'not delivered' : 'duplicate'
}

function whatBecameOf(message: string, child: ConsumerChild): Fate {
  if (child.all('running').some((event) => event.message === message)) return 'run'
  return child.all('duplicate').some(({ keys }) => keys?.includes(message)) ? 'duplicate' : 'not delivered'
}
