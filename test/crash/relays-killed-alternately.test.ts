import { describe, expect, test } from 'vitest'
import type { ConsumerChild } from './consumer-child.ts'
import type { RelayPoint } from './fixtures/relay-config.ts'
import { openRelays } from './relays.ts'
import { onPostgres } from './stores.ts'

const points: readonly RelayPoint[] = ['in-publish', 'after-publish', 'before-publish']
const all = 20_000
const inOneTransaction = 500
const batch = 100
const kills = 20
/** Between two kills. */
const step = Math.floor(all / (kills + 2))
const manyKeys = Array.from({ length: 40 }, (_, index) => `k${index}`)

describe.each([onPostgres])('two relays on $name', (store) => {
  test.skipIf(store.isMissing)(
    'that are killed alternately forget nothing of 20,000, and keep every order',
    async () => {
      await using relays = await openRelays(store)
      const startFor = (round: number): ConsumerChild => {
        const stop = { point: points[round % points.length] as RelayPoint, message: `m${(round + 1) * step}` }
        return relays.start({ batch, ...(round < kills && { stop }) })
      }
      const pair = [startFor(0), startFor(1)]
      await Promise.all(pair.map((relay) => relay.heard('started')))
      const publishing = (async () => {
        for (let sent = 0; sent < all; sent += inOneTransaction) await relays.publishAll(inOneTransaction, manyKeys)
      })()
      for (let round = 0; round < kills; round++) {
        const doomed = pair[round % 2] as ConsumerChild
        const point = points[round % points.length] as RelayPoint
        // The message at which it stops may have gone to the other one. Then it dies at a moment that nobody has chosen.
        const isPast = relays.world.until(
          async () => (await relays.arrivals()) >= (round + 2) * step,
          `kill ${round + 1}`,
        )
        await Promise.race([doomed.heard(`stopped ${point}`).catch(() => isPast), isPast])
        await doomed.kill()
        await isPast
        pair[round % 2] = startFor(round + 2)
      }
      await publishing
      await relays.untilSent()
      for (const relay of pair) await relay.kill()
      const { arrived, published } = await relays.orders()
      expect(Object.values(published).flat()).toHaveLength(all)
      expect(arrived).toEqual(published)
      // What was in the hands of one that was killed after it had sent it has come twice: otherwise nothing was tried here.
      expect(await relays.arrivals()).toBeGreaterThan(all)
    },
  )
})
