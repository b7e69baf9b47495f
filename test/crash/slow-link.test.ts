import { describe, expect, test } from 'vitest'
import { crashPoints } from '../../src/testing/index.ts'
import type { DatabaseAddress } from './fixtures/consumer-config.ts'
import { onMysql, onPostgres, onRedis } from './stores.ts'
import { openProxiedWorld } from './through-proxy.ts'
import { exactlyOnce } from './verdict.ts'
import { ids } from './world.ts'

/** For each way: longer than a rival waits for a claim before it turns to something else. */
const delayMs = 120
/** Nobody gets its claims because it was slow to renew them. */
const idleTimeoutMs = 20_000
/** Nobody takes it for down either because a busy machine makes it slower still. */
const commandTimeoutMs = 30_000

describe.each([onPostgres, onMysql, onRedis])('the link to $name of one of two processes becomes slow', (store) => {
  const title = '%s, both with the same messages: one effect each, and slow is not taken for down'
  test.skipIf(store.isMissing).concurrent.each(crashPoints)(title, async (point) => {
    await using opened = await openProxiedWorld(store, 'separate')
    const { world, proxy, database } = opened
    await world.send(ids(3), ['notes', 'copies'])
    const slow = world.start({
      database: patient(database),
      idleTimeoutMs,
      queue: 'notes',
      stops: [{ point, message: 'm002', how: 'wait' }],
    })
    await slow.reached(point)
    proxy.slow(delayMs)
    const rival = world.start({ database: patient(world.database), queue: 'copies' })
    slow.go()
    await world.untilDrained()
    expect(await world.verdict()).toEqual(exactlyOnce)
    // It had to wait for the slow one, or to come back later.
    if (point !== 'before-claim') expect(rival.all('running').map(({ message }) => message)).not.toContain('m002')
    proxy.slow(0)
    await slow.stop()
    for (const each of [slow, rival]) {
      expect(each.all('store-down')).toEqual([])
      expect(each.all('settled').filter(({ settlement }) => settlement === 'release')).toEqual([])
      expect(each.all('parked')).toEqual([])
    }
  })
})

function patient(database: DatabaseAddress): DatabaseAddress {
  return database.kind === 'redis' ? { ...database, commandTimeoutMs } : database
}
