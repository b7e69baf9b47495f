import { describe, expect, test } from 'vitest'
import type { ChildEvent } from './fixtures/consumer-config.ts'
import { onMysql, onNodeRedis, onPostgres, onRedis } from './stores.ts'
import { openProxiedWorld } from './through-proxy.ts'
import { exactlyOnce } from './verdict.ts'
import { ids } from './world.ts'

/** What was being taken when the connection broke comes back after this long; nobody knows that it was taken. */
const visibilityMs = 2_000

describe.each([onPostgres, onMysql, onRedis, onNodeRedis])('$name is down for a while', (store) => {
  const cases = store.acknowledgings.flatMap((acknowledging) =>
    [false, true].map((ownTransactions) => ({ acknowledging, ownTransactions })),
  )
  test.skipIf(store.isMissing).concurrent.each(cases)(
    'acknowledged $acknowledging, own transactions $ownTransactions: held, not given back, and done when it is back',
    async ({ acknowledging, ownTransactions }) => {
      await using opened = await openProxiedWorld(store, acknowledging)
      const { world, proxy, database } = opened
      await world.send(ids(20))
      const stops = [{ point: 'between-writes', message: 'm005', how: 'wait' }] as const
      const child = world.start({ database, visibilityMs, ownTransactions, stops })
      await child.reached('between-writes')
      await proxy.refuse()
      proxy.cutAll()
      child.go()
      await child.heard('store-down')
      expect(child.all('store-up')).toEqual([])
      await world.send(['late-1', 'late-2'])

      await proxy.accept()
      await child.heard('store-up')
      await world.untilDrained()
      expect(await world.verdict()).toEqual(exactlyOnce)
      expect(child.all('settled').filter(({ settlement }) => settlement === 'release')).toEqual([])
      expect(child.all('settled-again')).toEqual([])
      expect(child.all('parked')).toEqual([])
      await child.stop()
    },
  )

  const stopped = 'and it is asked to stop: it gives back whatever it has not done, and another process does it'
  test.skipIf(store.isMissing).concurrent(stopped, async () => {
    await using opened = await openProxiedWorld(store, 'separate')
    const { world, proxy, database } = opened
    await world.send(ids(10))
    const stops = [{ point: 'between-writes', message: 'm002', how: 'wait' }] as const
    // A follow-up that its relay had leased when the connection was cut would come only after that long.
    const quiet = { visibilityMs: 300_000, publishes: false }
    const leaving = world.start({ database, ...quiet, stops })
    await leaving.reached('between-writes')
    // Beside the one that waits others may be done before the connection is cut, and this one is.
    await world.send(['beside'])
    await leaving.until((event) => keysSettled([event], 'done').includes('beside'), 'what came beside it was done')
    await proxy.refuse()
    proxy.cutAll()
    leaving.go()
    await leaving.heard('store-down')
    await leaving.stop()
    const done = keysSettled(leaving.events, 'done')
    const given = keysSettled(leaving.events, 'release')
    const taken = leaving.all('delivered').flatMap(({ keys = [] }) => keys)
    expect(given).toContain('m002')
    expect([...done, ...given].sort()).toEqual(taken.sort())

    world.start(quiet)
    await world.untilDrained()
    expect(await world.verdict([1, 2])).toEqual(exactlyOnce)
  })
})

function keysSettled(events: readonly ChildEvent[], settlement: ChildEvent['settlement']): readonly string[] {
  return events
    .filter((event) => event.event === 'settled' && event.settlement === settlement)
    .flatMap(({ keys = [] }) => keys)
}
