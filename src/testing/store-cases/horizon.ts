import assert from 'node:assert/strict'
import { request } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf, hold } from '../waiting.ts'
import { aDay, born, claimAll, daysFromNow, found, raised, retentionOf, verdicts } from './retention-steps.ts'

/** Until when records may have existed that are gone now, and what that means for a claim. */
export const horizonCases: readonly StoreCase[] = [
  {
    name: 'horizon: there is none until it is raised; then every process sees it, and it follows the clock of the database',
    needs: ['retention'],
    async run({ store, rival }) {
      assert.equal(await retentionOf(store).horizon(), undefined)
      const { horizon, now } = await raised(store, 3 * aDay)
      assert.equal(now.getTime() - horizon.getTime(), 3 * aDay)
      assert.ok(Math.abs(now.getTime() - Date.now()) < aDay / 2, `${now.toISOString()} is not the time`)
      assert.deepEqual(await retentionOf(rival).horizon(), horizon)
      assert.deepEqual(await retentionOf(store).horizon(), horizon)
    },
  },
  {
    name: 'horizon: it only moves forward, even if another process wants to keep more',
    needs: ['retention'],
    async run({ store, rival }) {
      const first = await raised(store, 3 * aDay)
      const lower = await raised(rival, 30 * aDay)
      assert.deepEqual(lower.horizon, first.horizon)
      assert.ok(lower.now.getTime() - lower.horizon.getTime() < 4 * aDay)
      assert.deepEqual(await retentionOf(store).horizon(), first.horizon)
      const higher = await raised(rival, 2 * aDay)
      assert.ok(higher.horizon > first.horizon)
      await Promise.all([9, 1, 20, 5].map((days, turn) => retentionOf(turn % 2 ? store : rival).raise(days * aDay)))
      const highest = await retentionOf(store).horizon()
      assert.ok(highest !== undefined && highest.getTime() >= higher.horizon.getTime() + aDay, String(highest))
    },
  },
  {
    name: 'horizon: a message born before it is too old to claim and leaves no record, however often it comes',
    needs: ['retention'],
    async run({ store, rival }) {
      await retentionOf(store).raise(10 * aDay)
      for (const each of [store, rival, store])
        assert.deepEqual(verdicts(await claimAll(each, born('m1', daysFromNow(-11)))), ['too old'])
      assert.deepEqual(await found(store, 'm1'), [])
    },
  },
  {
    name: 'horizon: a message born before it that has a record is a duplicate, whatever its state',
    needs: ['retention'],
    async run({ store, rival }) {
      const keys = ['m1', 'm2']
      const requests = keys.map((key) => born(key, daysFromNow(-11)))
      await claimAll(store, ...requests)
      await store.transaction((tx) => store.inbox.update(tx, [{ ...requests[1]!, state: 'parked' }]))
      await retentionOf(store).raise(10 * aDay)
      for (const each of [store, rival])
        assert.deepEqual(verdicts(await claimAll(each, ...requests)), ['processed', 'parked'])
    },
  },
  {
    name: 'horizon: what was born at it or after it is claimed',
    needs: ['retention'],
    async run({ store, rival }) {
      const { horizon } = await raised(store, 10 * aDay)
      const after = new Date(horizon.getTime() + 1)
      const before = new Date(horizon.getTime() - 1)
      const requests = [born('after', after), born('at', horizon), born('before', before)]
      assert.deepEqual(verdicts(await claimAll(store, ...requests)), ['first', 'first', 'too old'])
      assert.deepEqual(verdicts(await claimAll(rival, ...requests)), ['processed', 'processed', 'too old'])
    },
  },
  {
    name: 'horizon: one claim with old, new, known and timeless messages answers each in its place',
    needs: ['retention'],
    async run({ store }) {
      const requests = [
        born('a', daysFromNow(-20)),
        born('b', undefined),
        born('c', daysFromNow(-20)),
        born('d', daysFromNow(-1)),
        born('e', daysFromNow(-20)),
        born('f', daysFromNow(0)),
      ]
      await claimAll(store, requests[2]!, requests[3]!)
      await retentionOf(store).raise(10 * aDay)
      const answer = await claimAll(store, ...requests)
      assert.deepEqual(verdicts(answer), ['too old', 'first', 'processed', 'processed', 'too old', 'first'])
      assert.deepEqual([...(answer.tooOld ?? [])].toSorted(), [0, 4])
      assert.deepEqual(await found(store, 'a', 'b', 'c', 'd', 'e', 'f'), ['b', 'c', 'd', 'f'])
    },
  },
  {
    name: 'horizon: an id without a time is never too old',
    needs: ['retention'],
    async run({ store, rival }) {
      await retentionOf(store).raise(0)
      assert.deepEqual(verdicts(await claimAll(store, request('m1'))), ['first'])
      assert.deepEqual(verdicts(await claimAll(rival, request('m1'))), ['processed'])
    },
  },
  {
    name: 'horizon: without one, claims of any time work, without anything prepared for them',
    needs: ['retention'],
    async run({ store, rival }) {
      const moments = ['1971-01-01', '1999-12-31T23:59:59.999Z', '2014-05-13', '2200-01-01', '9000-06-01T12:00:00Z']
      const requests = moments.map((moment, index) => born(`m${index}`, new Date(moment)))
      const near = [-400, -1, 0, 1, 13, 40, 400].map((days) => born(`near ${days}`, daysFromNow(days)))
      near.sort((a, b) => (a.key < b.key ? -1 : 1))
      for (const some of [requests, near]) {
        const first = await claimAll(store, ...some)
        assert.deepEqual(
          verdicts(first),
          some.map(() => 'first'),
        )
        assert.deepEqual(
          verdicts(await claimAll(rival, ...some)),
          some.map(() => 'processed'),
        )
      }
    },
  },
  {
    name: 'horizon: a claim whose transaction is rolled back leaves no record, whatever its time',
    needs: ['retention'],
    async run({ store }) {
      const requests = [born('m1', daysFromNow(-500)), born('m2', daysFromNow(0))]
      const work = store.transaction(async (tx) => {
        await store.inbox.claim(tx, requests)
        throw new Error('the work failed')
      })
      await failureOf(work, 'work that throws')
      assert.deepEqual(verdicts(await claimAll(store, ...requests)), ['first', 'first'])
    },
  },
  {
    name: 'horizon: raising it waits for nobody, and a claim that was made before is kept',
    needs: ['retention', 'concurrent'],
    async run({ store, rival }) {
      const m1 = born('m1', daysFromNow(-11))
      const held = await hold(store, (tx) => store.inbox.claim(tx, [m1]))
      await retentionOf(rival).raise(10 * aDay)
      await held.commit()
      assert.deepEqual(verdicts(await claimAll(rival, m1)), ['processed'])
    },
  },
]
