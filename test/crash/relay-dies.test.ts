import { describe, expect, test } from 'vitest'
import type { ConsumerChild } from './consumer-child.ts'
import type { RelayPoint } from './fixtures/relay-config.ts'
import { openRelays, type Relays } from './relays.ts'
import { onMysql, onPostgres, onSqlite } from './stores.ts'

const points: readonly RelayPoint[] = ['before-publish', 'in-publish', 'after-publish']

describe.each([onSqlite, onPostgres, onMysql])('a relay on $name', (store) => {
  /** Two relays are at work, and one of them has stopped with the message in hand. */
  const oneStops = async (relays: Relays, point: RelayPoint) => {
    const pair = [1, 2].map(() => relays.start({ stop: { point, message: 'm008' } }))
    await Promise.all(pair.map((relay) => relay.heard('started')))
    await relays.publish(15)
    const stop = (relay: ConsumerChild) => relay.heard(`stopped ${point}`).then(({ keys = [] }) => ({ relay, keys }))
    const { relay: stopped, keys: inHand } = await Promise.race(pair.map(stop))
    const other = pair.find((relay) => relay !== stopped) as ConsumerChild
    // It gets the message, too, and is not to stop.
    other.go()
    return { stopped, other, inHand }
  }

  test.skipIf(store.isMissing).concurrent.each(points)('killed %s: another sends what it had', async (point) => {
    await using relays = await openRelays(store)
    const { stopped, other, inHand } = await oneStops(relays, point)
    await stopped.kill()
    await relays.publish(15)
    await relays.untilSent()
    await other.stop()
    const { arrived, published } = await relays.orders()
    expect(arrived).toEqual(published)
    // In the middle, it had sent the first ones of what it had, and m008 is perhaps not among them.
    const [first = ''] = inHand
    expect(await relays.copiesOf(first)).toBeGreaterThanOrEqual(point === 'before-publish' ? 1 : 2)
  })

  test.skipIf(store.isMissing).concurrent.each(points)(
    'frozen %s: another sends what it had, and it overtakes nothing when it thaws',
    async (point) => {
      await using relays = await openRelays(store)
      const { stopped, other } = await oneStops(relays, point)
      stopped.signal('SIGSTOP')
      await relays.publish(15)
      await relays.untilSent()

      stopped.go()
      stopped.signal('SIGCONT')
      await relays.publish(30)
      await relays.untilSent()
      await stopped.stop()
      await other.stop()
      const { arrived, published } = await relays.orders()
      expect(arrived).toEqual(published)
      expect(await relays.copiesOf('m008')).toBeGreaterThanOrEqual(2)
    },
  )

  test
    .skipIf(store.isMissing)
    .concurrent('beside another, killed again and again: nothing is lost or overtaken', async () => {
      await using relays = await openRelays(store)
      const steady = relays.start()
      await steady.heard('started')
      for (const [round, point] of [...points, ...points].entries()) {
        const message = `m${String(round * 20 + 12).padStart(3, '0')}`
        const doomed = relays.start({ stop: { point, message } })
        await doomed.heard('started')
        await relays.publish(20)
        // Either of the two may have got the message.
        await Promise.race([doomed.heard(`stopped ${point}`).catch(() => {}), relays.untilSent()])
        await doomed.kill()
      }
      await relays.untilSent()
      await steady.stop()
      const { arrived, published } = await relays.orders()
      expect(arrived).toEqual(published)
    })

  test.skipIf(store.isMissing).concurrent.each(['before-publish', 'after-publish'] as const)(
    'killed %s of a dead letter that was redriven: it arrives all the same',
    async (point) => {
      await using relays = await openRelays(store)
      await relays.publish(1)
      const refusing = relays.start({ refuses: ['m001'] })
      await refusing.until(({ event, state }) => event === 'outgoing-refused' && state === 'dead', 'a dead letter')
      await refusing.stop()
      expect(await relays.world.remaining()).toMatchObject({ outgoing: 0, parked: 1 })

      const killed = relays.start({ redrives: true, stop: { point, message: 'm001' } })
      await killed.heard('started')
      await relays.app.operations.letters.redrive('all', { by: 'ana' })
      await killed.heard(`stopped ${point}`)
      await killed.kill()
      expect(await relays.world.remaining()).toMatchObject({ outgoing: 1, parked: 0 })
      const next = relays.start()
      await relays.untilSent()
      expect(await relays.copiesOf('m001')).toBeGreaterThanOrEqual(point === 'before-publish' ? 1 : 2)
      expect((await relays.world.remaining()).parked).toBe(0)
      await next.stop()
    },
  )
})
