import { describe, expect, test } from 'vitest'
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

  const stopped = 'and it is asked to stop: it gives everything back, and another process does it'
  test.skipIf(store.isMissing).concurrent(stopped, async () => {
    await using opened = await openProxiedWorld(store, 'separate')
    const { world, proxy, database } = opened
    await world.send(ids(10))
    const stops = [{ point: 'between-writes', message: 'm002', how: 'wait' }] as const
    const leaving = world.start({ database, visibilityMs: 300_000, stops })
    await leaving.reached('between-writes')
    await proxy.refuse()
    proxy.cutAll()
    leaving.go()
    await leaving.heard('store-down')
    await leaving.stop()
    const given = leaving.all('settled').filter(({ settlement }) => settlement === 'release')
    const taken = leaving.all('delivered').flatMap(({ keys = [] }) => keys)
    expect(taken).toContain('m002')
    expect(given.flatMap(({ keys = [] }) => keys).sort()).toEqual(taken.sort())

    world.start({ visibilityMs: 300_000 })
    await world.untilDrained()
    expect(await world.verdict()).toEqual(exactlyOnce)
  })
})
