import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CrashPoint } from '../../src/testing/index.ts'
import { type RedisServer, startRedis, withRedis } from '../servers/redis.ts'
import { requireBinaries } from '../servers/require.ts'
import './long-tests.ts'
import { exactlyOnce } from './verdict.ts'
import { ids, openWorld } from './world.ts'

const redis = await requireBinaries('redis')
const points: readonly CrashPoint[] = ['before-claim', 'between-writes', 'after-commit']

describe.skipIf(!redis.available)('the memory of Redis is full for a while', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server?.stop())
  const limit = (bytes: number) => withRedis(server.url, (client) => client.configSet('maxmemory', String(bytes)))

  test.each(points)('from %s on: one effect each when there is room again', async (point) => {
    await using world = await openWorld({ acknowledging: 'separate', redis: { url: server.url } })
    await world.send(ids(20))
    const child = world.start({ visibilityMs: 1_000, stops: [{ point, message: 'm006', how: 'wait' }] })
    await child.reached(point)
    await limit(1)
    child.go()
    await child.heard('store-down')
    await limit(0)
    await world.untilDrained()
    expect(await world.verdict()).toEqual(exactlyOnce)
    expect(child.all('parked')).toEqual([])
    expect(child.all('settled').filter(({ settlement }) => settlement === 'release')).toEqual([])
    await child.stop()
  })
})
