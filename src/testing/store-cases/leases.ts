import assert from 'node:assert/strict'
import { type Leases, leasesOf } from '../../facts/index.ts'
import { present } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually, failureOf, hold } from '../waiting.ts'
import { anHour } from './parked-rows.ts'

export const leaseCases: readonly StoreCase[] = [
  {
    name: 'leases: the holder keeps others out until the lease is released',
    async run({ store, rival }) {
      const { fence } = present(await leasesOf(store).acquire('tidying', anHour), 'the lease')
      assert.equal(await leasesOf(rival).acquire('tidying', anHour), undefined)
      assert.equal(await leasesOf(store).acquire('tidying', anHour), undefined, 'it was given to its own holder again')
      assert.equal(await leasesOf(store).release('tidying', fence), true)
      assert.ok(await leasesOf(rival).acquire('tidying', anHour), 'a released lease is not free')
    },
  },
  {
    name: 'leases: names are compared in full and case-sensitively',
    async run({ store, rival }) {
      const names = ['tidying', 'Tidying', 'tidying ', `${'x'.repeat(199)}a`, `${'x'.repeat(199)}b`, 'größe 🙂']
      for (const name of names) assert.ok(await leasesOf(store).acquire(name, anHour), name)
      for (const name of names) assert.equal(await leasesOf(rival).acquire(name, anHour), undefined, name)
    },
  },
  {
    name: 'leases: of many processes that ask at once, exactly one gets it',
    async run({ store, rival }) {
      for (const name of ['new', 'new', 'another'])
        for (const turn of [1, 2]) {
          const asked = Array.from({ length: 8 }, (_, index) => leasesOf(index % 2 === 0 ? store : rival))
          const answers = await Promise.all(asked.map((leases) => leases.acquire(name, anHour)))
          const [won, ...more] = answers.filter((answer) => answer !== undefined)
          assert.deepEqual(more, [], `${name}, turn ${turn}`)
          assert.equal(await leasesOf(store).release(name, present(won, 'the lease').fence), true)
        }
    },
  },
  {
    name: 'leases: the fence only grows, across releases and expiries, in every process',
    async run({ store, rival }) {
      const fences: number[] = []
      for (let turn = 0; turn < 6; turn++) {
        const leases = turn % 2 === 0 ? leasesOf(store) : leasesOf(rival)
        const isReleased = turn < 3
        const fence = await soonAcquired(leases, 'tidying', isReleased ? anHour : 1)
        fences.push(fence)
        if (isReleased) assert.equal(await leases.release('tidying', fence), true)
      }
      assert.deepEqual(
        fences,
        [...new Set(fences)].toSorted((a, b) => a - b),
      )
    },
  },
  {
    name: 'leases: a fence is at least the time, in microseconds, so that it keeps growing after its row was lost',
    async run({ store }) {
      for (const name of ['tidying', 'another']) {
        const { fence } = present(await leasesOf(store).acquire(name, anHour), 'the lease')
        assert.ok(fence > Date.UTC(2020, 0) * 1_000, `the first fence of ${name} is ${fence}`)
        assert.ok(Number.isSafeInteger(fence), `${fence} is not exact`)
      }
    },
  },
  {
    name: 'leases: a lease that is not renewed expires, and its holder has lost it',
    async run({ store, rival }) {
      const lost = await soonAcquired(leasesOf(store), 'tidying', 30)
      const fence = await soonAcquired(leasesOf(rival), 'tidying', anHour)
      assert.ok(fence > lost)
      assert.equal(await leasesOf(store).renew('tidying', lost, anHour), false)
      assert.equal(await leasesOf(store).release('tidying', lost), false)
      assert.equal(
        await leasesOf(store).acquire('tidying', anHour),
        undefined,
        'the late one has freed the lease of another',
      )
      assert.equal(await leasesOf(rival).renew('tidying', fence, anHour), true)
    },
  },
  {
    name: 'leases: an expired lease is lost, even if nobody has taken it since',
    async run({ store }) {
      const fence = await soonAcquired(leasesOf(store), 'tidying', 30)
      // Each renewal is short. Once the lease has ended, it stays ended.
      await eventually(async () => ((await leasesOf(store).renew('tidying', fence, 1)) ? undefined : true), 'its end')
      assert.equal(await leasesOf(store).renew('tidying', fence, anHour), false)
      assert.equal(await leasesOf(store).release('tidying', fence), false)
      assert.ok(await leasesOf(store).acquire('tidying', anHour))
    },
  },
  {
    name: 'leases: a renewal counts from now, whether it extends or shortens the lease',
    async run({ store, rival }) {
      const short = 200
      await eventually(async () => {
        const fence = await soonAcquired(leasesOf(store), 'longer', short)
        // A slow machine may have let it end meanwhile. Then it is tried again.
        return (await leasesOf(store).renew('longer', fence, anHour)) ? true : undefined
      }, 'a renewal in time')
      const shorter = await soonAcquired(leasesOf(store), 'shorter', anHour)
      assert.equal(await leasesOf(store).renew('shorter', shorter, short), true)
      // By the time that lease has ended, the other would have ended, too, without its renewal.
      await soonAcquired(leasesOf(rival), 'shorter', anHour)
      assert.equal(await leasesOf(rival).acquire('longer', anHour), undefined, 'the renewal did not make it longer')
    },
  },
  {
    name: 'leases: a fence that was never issued, or was already released, renews and releases nothing',
    async run({ store, rival }) {
      assert.equal(await leasesOf(store).renew('unknown', 1, anHour), false)
      assert.equal(await leasesOf(store).release('unknown', 1), false)
      const { fence } = present(await leasesOf(store).acquire('tidying', anHour), 'the lease')
      for (const wrong of [fence - 1, fence + 1]) {
        assert.equal(await leasesOf(rival).renew('tidying', wrong, 1), false)
        assert.equal(await leasesOf(rival).release('tidying', wrong), false)
      }
      assert.equal(await leasesOf(rival).acquire('tidying', anHour), undefined)
      assert.equal(await leasesOf(store).release('tidying', fence), true)
      assert.equal(await leasesOf(store).release('tidying', fence), false)
      assert.equal(await leasesOf(store).renew('tidying', fence, anHour), false)
    },
  },
  {
    name: 'leases: a lease that was taken beside a transaction stays when that is rolled back',
    needs: ['concurrent'],
    async run({ store, rival, effects }) {
      const beside = await hold(store, (tx) => effects.write(tx, 'm1'))
      assert.ok(await leasesOf(store).acquire('tidying', anHour))
      await beside.undo()
      assert.equal(await leasesOf(rival).acquire('tidying', anHour), undefined)
      await failureOf(
        store.transaction(async () => {
          throw new Error('the work failed')
        }),
        'work that throws',
      )
      assert.equal(await leasesOf(rival).acquire('tidying', anHour), undefined)
    },
  },
]

/** Resolves to the fence, once the previous lease has ended by the database's clock. */
async function soonAcquired(leases: Leases, name: string, leaseMs: number): Promise<number> {
  const { fence } = await eventually(() => leases.acquire(name, leaseMs), `the lease ${name}`)
  return fence
}
