import { describe, expect, test } from 'vitest'
import { crashPoints } from '../../src/testing/index.ts'
import type { ChildEvent, DatabaseAddress } from './fixtures/consumer-config.ts'
import { onMysql, onPostgres, onRedis } from './stores.ts'
import { deliveriesOf, openProxiedWorld } from './through-proxy.ts'
import { exactlyOnce } from './verdict.ts'
import { ids } from './world.ts'
import './long-tests.ts'

const message = 'm003'
/** Longer than a busy machine keeps a process from reading an answer that is there. */
const timeoutMs = 2_000
/** Nothing is taken from others because a busy machine keeps them from renewing it. */
const patient = { visibilityMs: 10_000, idleTimeoutMs: 20_000 } as const

// Not over node-redis: it has no timeout that would make it give up a connection on which it is still sending.
describe.each([
  { store: onPostgres, whose: 'client' },
  { store: onRedis, whose: 'client' },
  { store: onPostgres, whose: 'store' },
  { store: onMysql, whose: 'store' },
] as const)('$store.name does not hear a process any more, and does not answer', ({ store, whose }) => {
  // At the others, the next statement is the handler's own: its timeout ends that, and the store does not.
  const ofTheStore: readonly string[] = ['before-claim', 'before-commit', 'after-commit', 'after-ack']
  const points = crashPoints.filter((point) => whose === 'client' || ofTheStore.includes(point))
  const cases = store.acknowledgings.flatMap((acknowledging) => points.map((point) => ({ acknowledging, point })))
  test.skipIf(store.isMissing).concurrent.each(cases)(
    `$point, acknowledged $acknowledging: a ${whose} with a timeout notices, and does it on new connections`,
    async ({ acknowledging, point }) => {
      await using opened = await openProxiedWorld(store, acknowledging)
      const { world, proxy, database } = opened
      const sent = ids(6)
      await world.send(sent)
      const child = world.start({
        database: whose === 'client' ? withTimeout(database, timeoutMs) : answeredWithin(database, timeoutMs),
        idleTimeoutMs: 2 * timeoutMs,
        // With the queue inside no redelivery comes in time to help. With a broker, what was taken to be sent when the link
        // went deaf is sent after this long; its messages stay its own, because it can tell the broker so.
        visibilityMs: acknowledging === 'inside' ? 300_000 : 6_000,
        stops: [{ point, message, how: 'wait' }],
      })
      await child.reached(point)
      proxy.halfClose()
      child.go()
      await world.untilDrained()
      expect(await world.verdict()).toEqual(exactlyOnce)
      for (const each of sent) expect(deliveriesOf(child, each)).toBe(1)
      // The end of a pool waits for answers on connections that nobody has used since.
      if (whose === 'store') proxy.cutAll()
      await child.stop()
      expect(child.all('settled').filter(({ settlement }) => settlement === 'release')).toEqual([])
      expect(child.all('settled-again')).toEqual([])
      expect(child.all('parked')).toEqual([])
      // ioredis sends on its new connection what was not answered on the old one, and nobody else has to know.
      if (store === onRedis) return
      // Whether the ping that follows goes out on a deaf connection or a new one is chance.
      if (point === 'between-writes') expect([...child.all('store-down'), ...child.all('rolled-back')]).not.toEqual([])
      // Before it commits, MySQL asks whether the transaction is still open.
      if (point === 'before-commit' && store === onPostgres)
        expect(child.all('rolled-back').map(({ reason }) => reason)).toContain('commit-unknown')
    },
  )
})

describe.each([{ store: onPostgres }, { store: onMysql }] as const)(
  '$store.name does not hear a process any more',
  ({ store }) => {
    const name = 'a client without a timeout: it gives its connections up, and whoever is faster does the work'
    test.skipIf(store.isMissing)(name, async () => {
      // The queue is in the same database: what the process has taken is not its own any longer, because it cannot say so.
      await using opened = await openProxiedWorld(store, 'inside')
      const { world, proxy, database } = opened
      const times = { visibilityMs: timeoutMs, idleTimeoutMs: 2 * timeoutMs }
      await world.send(ids(6))
      const answered = answeredWithin(database, timeoutMs)
      const deaf = world.start({
        ...times,
        database: answered,
        stops: [{ point: 'before-commit', message, how: 'wait' }],
      })
      await deaf.reached('before-commit')
      proxy.halfClose()
      // On new connections it can say that what it has taken is still its own, so nobody else would ever get it.
      deaf.go()
      const isGivenUp = ({ event, reason = '' }: ChildEvent) =>
        event === 'store-down' ||
        (event === 'rolled-back' && ['commit-unknown', 'connection-lost'].includes(String(reason)))
      await deaf.until(isGivenUp, 'a connection that is given up')

      const others = [world.start(patient), world.start(patient)]
      await world.untilDrained()
      proxy.cutAll()
      for (const each of others) await each.heard('started')
      for (const each of [deaf, ...others]) await each.stop()
      expect(await world.verdict()).toEqual(exactlyOnce)
    })
  },
)

/** The client itself waits forever. */
function answeredWithin(database: DatabaseAddress, answerTimeoutMs: number): DatabaseAddress {
  if (database.kind !== 'postgres' && database.kind !== 'mysql') throw new Error('only these stores have this limit')
  return { ...database, answerTimeoutMs }
}

function withTimeout(database: DatabaseAddress, ms: number): DatabaseAddress {
  if (database.kind === 'redis') return { ...database, socketTimeoutMs: ms, commandTimeoutMs: 5 * ms }
  if (database.kind !== 'postgres') throw new Error('only connections can be without an answer')
  const url = new URL(database.url)
  url.searchParams.set('query_timeout', String(ms))
  return { ...database, url: url.href }
}
