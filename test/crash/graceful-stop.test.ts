import { describe, expect, test } from 'vitest'
import type { ConsumerChild } from './consumer-child.ts'
import { stores } from './stores.ts'
import { exactlyOnce } from './verdict.ts'
import { ids } from './world.ts'

/** Far longer than the test: only what is given back can be taken by the next process. */
const visibilityMs = 300_000

describe.each(stores)('asked to stop in the middle of a batch on $name', (store) => {
  test.skipIf(store.isMissing).concurrent.each(store.acknowledgings)(
    'acknowledged %s: finishes what runs, gives back the rest, and the next process does that',
    async (acknowledging) => {
      await using world = await store.open(acknowledging)
      const sent = ids(40)
      await world.send(sent)
      const message = 'm012'
      const stops = [{ point: 'between-writes', message, how: 'wait' }] as const
      // One batch of at most 20 at a time, and however slow the machine is, twice as many are taken.
      const batches = { batchMax: 20, batchBudgetMs: 600_000, concurrency: 1 }
      const leaving = world.start({ visibilityMs, idleTimeoutMs: 20_000, ...batches, stops })
      await leaving.reached('between-writes')
      await leaving.until(() => taken(leaving).length === sent.length, 'a delivery of each message')
      leaving.signal('SIGTERM')
      await leaving.heard('stopping')
      const next = world.start({ visibilityMs })
      leaving.go()
      expect(await leaving.ended).toEqual({ code: 0, signal: null })

      const [done, given] = [settled(leaving, 'done'), settled(leaving, 'release')]
      expect(done).toContain(message)
      expect(given.length).toBeGreaterThan(0)
      expect([...done, ...given].sort()).toEqual(sent)

      await world.untilDrained()
      expect(await world.verdict()).toEqual(exactlyOnce)
      await next.stop()
      expect(runBy(leaving).sort()).toEqual(done.sort())
      expect(runBy(next).sort()).toEqual(sent.filter((id) => !done.includes(id)))
    },
  )
})

function settled(child: ConsumerChild, settlement: 'done' | 'release'): string[] {
  return sentOnes(child.all('settled').filter((event) => event.settlement === settlement))
}

function taken(child: ConsumerChild): string[] {
  return sentOnes(child.all('delivered'))
}

/** Follow-ups have ids of their own and are left out. */
function sentOnes(events: ReturnType<ConsumerChild['all']>): string[] {
  return events.flatMap(({ keys = [] }) => keys).filter((key) => /^m\d+$/.test(key))
}

function runBy(child: ConsumerChild): string[] {
  return child.all('running').map(({ message }) => message as string)
}
