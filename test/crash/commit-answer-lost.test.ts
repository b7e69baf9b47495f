import { describe, expect, test } from 'vitest'
import type { CutMoment } from '../servers/proxy.ts'
import type { ConsumerChild } from './consumer-child.ts'
import { ledgerEntry } from './fixtures/open-redis.ts'
import { onMysql, onNodeRedis, onPostgres, onRedis, type StoreUnderTest } from './stores.ts'
import { deliveriesOf, openProxiedWorld } from './through-proxy.ts'
import { exactlyOnce } from './verdict.ts'
import { ids } from './world.ts'

const moments: readonly { when: CutMoment; committed: boolean }[] = [
  { when: 'before', committed: false },
  { when: 'after-forward', committed: true },
]

interface CommitOnTheWire {
  readonly store: StoreUnderTest
  /** Other transactions commit meanwhile; it is known by the last message that was written in it. */
  commitOf(message: string): RegExp
  /** Not given where the client sends its commit alone and waits: then the first answer is the one. */
  readonly answer?: string
  /** The client sends again what was not answered, as soon as it is connected: then it gets its answer after all. */
  readonly resends: boolean
}

const inRedis = {
  commitOf: (message: string) => new RegExp(ledgerEntry(message, 2).replace(/[[\]]/g, '\\$&')),
  answer: 'committed',
}
const wires: readonly CommitOnTheWire[] = [
  {
    store: onPostgres,
    commitOf: (message) => new RegExp(`${message}[\\s\\S]*COMMIT`),
    answer: 'COMMIT',
    resends: false,
  },
  {
    store: onMysql,
    commitOf: (message) => new RegExp(`${message}[\\s\\S]*COMMIT`),
    resends: false,
  },
  { store: onRedis, ...inRedis, resends: true },
  { store: onNodeRedis, ...inRedis, resends: false },
]

describe.each(wires)('the answer to a commit in $store.name is lost', ({ store, commitOf, answer, resends }) => {
  const cases = store.acknowledgings.flatMap((acknowledging) =>
    [1, 8].flatMap((size) => moments.map((moment) => ({ acknowledging, size, ...moment }))),
  )
  test.skipIf(store.isMissing).concurrent.each(cases)(
    'committed: $committed, $size sent, acknowledged $acknowledging: one effect each, settled without a redelivery',
    async ({ acknowledging, size, when, committed }) => {
      await using opened = await openProxiedWorld(store, acknowledging)
      const { world, proxy, database } = opened
      const sent = ids(size)
      const message = sent[0] as string
      await world.send(sent)
      const child = world.start({
        database,
        // What was sent goes into one transaction.
        concurrency: 1,
        // No redelivery comes in time to help.
        visibilityMs: 300_000,
        // Long enough for its claims to be its own when it is connected again.
        idleTimeoutMs: 30_000,
        stops: [{ point: 'before-commit', message, how: 'wait' }],
      })
      expect((await child.reached('before-commit')).keys).toEqual(sent)
      const cut = proxy.cutWhenClientSends(commitOf(sent.at(-1) as string), when, { answer })
      child.go()
      await cut
      await world.untilDrained()

      expect(await world.verdict()).toEqual(exactlyOnce)
      expect(child.all('rolled-back').map(({ reason }) => reason)).toEqual(resends ? [] : ['commit-unknown'])
      // It was this commit, not that of a follow-up.
      if (!resends) expect(firstOf(child, 'rolled-back', 'batch')).toBe('rolled-back')
      for (const each of sent) expect(deliveriesOf(child, each)).toBe(1)
      const runs = child.all('running').filter((event) => event.message === message)
      expect(runs.length).toBe(committed || resends ? 1 : 2)
      await child.stop()
      expect(child.all('settled').filter(({ settlement }) => settlement === 'release')).toEqual([])
      expect(child.all('settled-again')).toEqual([])
    },
  )

  test.skipIf(store.isMissing).concurrent.each(store.acknowledgings)(
    'and then the store is gone, acknowledged %s: one effect each',
    async (acknowledging) => {
      await using opened = await openProxiedWorld(store, acknowledging)
      const { world, proxy, database } = opened
      const sent = ids(3)
      await world.send(sent)
      const stops = [{ point: 'before-commit', message: 'm001', how: 'wait' }] as const
      const child = world.start({ database, concurrency: 1, visibilityMs: 2_000, stops })
      expect((await child.reached('before-commit')).keys).toEqual(sent)
      const cut = proxy.cutWhenClientSends(commitOf('m003'), 'after-forward', { answer })
      await proxy.refuse()
      child.go()
      await cut
      proxy.cutAll()
      await child.heard('store-down')
      await proxy.accept()
      await world.untilDrained()
      expect(await world.verdict()).toEqual(exactlyOnce)
      expect(child.all('running').length).toBe(3)
      expect(child.all('settled').filter(({ settlement }) => settlement === 'release')).toEqual([])
    },
  )
})

/** Which of them it has said first. */
function firstOf(child: ConsumerChild, ...names: readonly string[]): string | undefined {
  return child.events.find(({ event }) => names.includes(event))?.event
}
