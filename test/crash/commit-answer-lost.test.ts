import { describe, expect, test } from 'vitest'
import type { CutMoment } from '../servers/proxy.ts'
import { acknowledgings, onPostgres } from './stores.ts'
import { deliveriesOf, openProxiedWorld } from './through-proxy.ts'
import { exactlyOnce } from './verdict.ts'
import { ids } from './world.ts'

const moments: readonly { when: CutMoment; committed: boolean }[] = [
  { when: 'before', committed: false },
  { when: 'after-forward', committed: true },
]
const cases = acknowledgings.flatMap((acknowledging) =>
  [1, 8].flatMap((size) => moments.map((moment) => ({ acknowledging, size, ...moment }))),
)

describe.skipIf(onPostgres.isMissing)('the answer to a commit is lost', () => {
  test.concurrent.each(cases)(
    'committed: $committed, $size sent, acknowledged $acknowledging: one effect each, settled without a redelivery',
    async ({ acknowledging, size, when, committed }) => {
      await using opened = await openProxiedWorld(acknowledging)
      const { world, proxy, database } = opened
      const sent = ids(size)
      const message = sent[0] as string
      await world.send(sent)
      const child = world.start({
        database,
        // No redelivery comes in time to help.
        visibilityMs: 300_000,
        stops: [{ point: 'before-commit', message, how: 'wait' }],
      })
      await child.reached('before-commit')
      // Other transactions commit meanwhile; ours is the one that has written the last message.
      const itsCommit = new RegExp(`${sent.at(-1)}[\\s\\S]*COMMIT`)
      const cut = proxy.cutWhenClientSends(itsCommit, when, { answer: 'COMMIT' })
      child.go()
      await cut
      await world.untilDrained()

      expect(await world.verdict()).toEqual(exactlyOnce)
      expect(child.all('undone').map(({ reason }) => reason)).toEqual(['commit-unknown'])
      for (const each of sent) expect(deliveriesOf(child, each)).toBe(1)
      const runs = child.all('running').filter((event) => event.message === message)
      expect(runs.length).toBe(committed ? 1 : 2)
      await child.stop()
      expect(child.all('settled').filter(({ settlement }) => settlement === 'release')).toEqual([])
      expect(child.all('settled-again')).toEqual([])
    },
  )

  test.concurrent.each(acknowledgings)(
    'and then the store is gone, acknowledged %s: one effect each',
    async (acknowledging) => {
      await using opened = await openProxiedWorld(acknowledging)
      const { world, proxy, database } = opened
      await world.send(ids(3))
      const stops = [{ point: 'before-commit', message: 'm001', how: 'wait' }] as const
      const child = world.start({ database, visibilityMs: 2_000, stops })
      await child.reached('before-commit')
      const cut = proxy.cutWhenClientSends(/m003[\s\S]*COMMIT/, 'after-forward', { answer: 'COMMIT' })
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
