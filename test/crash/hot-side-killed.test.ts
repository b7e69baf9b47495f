import { describe, expect, test } from 'vitest'
import { crashPoints } from '../../src/testing/index.ts'
import { type RedisServer, startRedis, withRedis } from '../servers/redis.ts'
import { requireBinaries } from '../servers/require.ts'
import { onPostgres } from './stores.ts'
import { exactlyOnce } from './verdict.ts'
import { ids } from './world.ts'

const redis = await requireBinaries('redis')
const visibilityMs = 400
const message = 'm014'

describe.skipIf(!redis.available || onPostgres.isMissing)('a hot Redis beside Postgres', () => {
  test.concurrent.each(crashPoints)(
    'Redis and the process are killed %s: one effect each, without Redis and when it is back',
    async (point) => {
      await using hot = await startHotSide()
      await using world = await onPostgres.open('separate')
      const database = { ...world.database, hot: hot.server.url }
      const sent = ids(20)
      const dying = world.start({ database, visibilityMs, stops: [{ point, message, how: 'wait' }] })
      // It does not go out where this machine is too slow for it: then another one is needed.
      for (let round = 1; (await hot.size()) === 0; round++) {
        await world.send([`before-${round}`])
        await world.untilDrained()
      }
      await world.send(sent)
      await dying.reached(point)
      await hot.server.kill9()
      expect(await dying.kill()).toEqual({ code: null, signal: 'SIGKILL' })

      const next = world.start({ database, visibilityMs })
      await world.untilDrained()
      expect(await world.verdict()).toEqual(exactlyOnce)

      await hot.server.restart()
      expect(await hot.size()).toBeGreaterThan(0)
      const before = next.all('running').length
      await world.send(sent)
      await world.untilDrained()
      await next.stop()
      expect(await world.verdict()).toEqual(exactlyOnce)
      expect(next.all('running').length).toBe(before)
      expect(next.all('store-down')).toEqual([])
    },
  )

  test.concurrent.each(['before-claim', 'between-writes', 'after-commit'] as const)(
    'Redis alone is killed %s: nobody notices, and copies are known without it',
    async (point) => {
      await using hot = await startHotSide()
      await using world = await onPostgres.open('separate')
      const database = { ...world.database, hot: hot.server.url }
      const sent = ids(20)
      await world.send(sent, ['notes', 'copies'])
      const child = world.start({ database, visibilityMs, stops: [{ point, message, how: 'wait' }] })
      await child.reached(point)
      await hot.server.kill9()
      child.go()
      const rival = world.start({ database, visibilityMs, queue: 'copies' })
      await world.untilDrained()
      expect(await world.verdict()).toEqual(exactlyOnce)
      for (const each of [child, rival]) await each.stop()
      for (const name of ['store-down', 'parked', 'settled-again'])
        expect([...child.all(name), ...rival.all(name)]).toEqual([])
      expect([...child.all('running'), ...rival.all('running')].length).toBe(sent.length)
    },
  )
})

interface HotSide extends AsyncDisposable {
  readonly server: RedisServer
  /** How much it remembers. */
  size(): Promise<number>
}

async function startHotSide(): Promise<HotSide> {
  const server = await startRedis()
  return {
    server,
    size: () => withRedis(server.url, (client) => client.dbSize()),
    [Symbol.asyncDispose]: () => server.stop(),
  }
}
