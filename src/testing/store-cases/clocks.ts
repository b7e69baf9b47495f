import assert from 'node:assert/strict'
import { databaseNow, leasesOf } from '../../facts/index.ts'
import { overriding } from '../overriding.ts'
import { present } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { aMinute, countsOf, queueOf, send, sendKeyed, take, textsOf } from './queue-steps.ts'
import { aDay, born, claimAll, removeAll, retentionOf, verdicts } from './retention-steps.ts'

const keepMs = 10 * aDay
const after = (date: Date, ms: number) => new Date(date.getTime() + ms)
const ageOf = ({ horizon, now }: { horizon: Date | undefined; now: Date }) =>
  now.getTime() - (horizon?.getTime() ?? Number.NaN)

/** The database's own clock is wrong for a while. That must not cause anything irreversible. */
export const clockCases: readonly StoreCase[] = [
  {
    name: 'clock: one that jumps ahead does not raise the horizon, and nothing has changed when it is right again',
    needs: ['retention', 'clock'],
    async run({ store, rival, moveClock }) {
      assert.equal((await retentionOf(store).raise(keepMs)).doubt, undefined)
      await moveClock?.(400 * aDay)
      for (const each of [store, rival]) {
        const jumped = await retentionOf(each).raise(keepMs)
        assert.ok(ageOf(jumped) > 400 * aDay, 'the horizon has moved with the clock')
        assert.ok(jumped.doubt, 'nobody is warned')
        assert.ok(jumped.now.getTime() - jumped.doubt.seen.getTime() > 399 * aDay)
      }
      await moveClock?.(-400 * aDay)
      const back = await retentionOf(store).raise(keepMs)
      assert.equal(back.doubt, undefined)
      assert.equal(ageOf(back), keepMs)
    },
  },
  {
    name: 'clock: one that stays ahead is believed after it has run on from there for a while',
    needs: ['retention', 'clock'],
    async run({ store, moveClock }) {
      await retentionOf(store).raise(keepMs)
      await moveClock?.(60 * aDay)
      assert.ok((await retentionOf(store).raise(keepMs)).doubt)
      await moveClock?.(aDay / 2)
      assert.ok((await retentionOf(store).raise(keepMs)).doubt, 'it was believed too soon')
      await moveClock?.(aDay / 2 + 60_000)
      const believed = await retentionOf(store).raise(keepMs)
      assert.equal(believed.doubt, undefined)
      assert.equal(ageOf(believed), keepMs)
    },
  },
  {
    name: 'clock: it says what it says, also when another process asks and it is set back in between',
    needs: ['clock'],
    async run({ store, rival, moveClock }) {
      let isRivalled = false
      const facts = overriding(store.facts, {
        async remove(...given: Parameters<typeof store.facts.remove>) {
          await store.facts.remove(...given)
          if (isRivalled) return
          isRivalled = true
          await databaseNow(rival)
          await moveClock?.(-60_000)
        },
      })
      const before = await databaseNow(rival)
      const now = await databaseNow({ facts })
      assert.ok(isRivalled)
      const aheadMs = now.getTime() - before.getTime()
      assert.ok(Math.abs(aheadMs) < 3_600_000, `it says ${now.toISOString()}`)
    },
  },
  {
    name: 'clock: two jumps in a row do not count as a clock that has run on',
    needs: ['retention', 'clock'],
    async run({ store, moveClock }) {
      await retentionOf(store).raise(keepMs)
      for (const days of [60, 60, 300]) {
        await moveClock?.(days * aDay)
        assert.ok((await retentionOf(store).raise(keepMs)).doubt, `after ${days} days`)
      }
    },
  },
  {
    name: 'clock: a jump is believed at once if the process that raises the horizon has seen that much time pass',
    needs: ['retention', 'clock'],
    async run({ store, moveClock }) {
      await retentionOf(store).raise(keepMs)
      await moveClock?.(60 * aDay)
      const { now } = await retentionOf(store).raise(keepMs)
      assert.ok((await retentionOf(store).raise(keepMs, after(now, -2 * aDay))).doubt)
      const vouched = await retentionOf(store).raise(keepMs, now)
      assert.equal(vouched.doubt, undefined)
      assert.equal(ageOf(vouched), keepMs)
    },
  },
  {
    name: 'clock: a lease that was taken while it was ahead does not outlive its length',
    needs: ['clock'],
    async run({ store, rival, moveClock }) {
      await moveClock?.(aDay)
      const { fence } = present(await leasesOf(store).acquire('tidying', 50), 'the lease')
      await moveClock?.(-aDay)
      const next = await eventually(() => leasesOf(rival).acquire('tidying', 50), 'the end of a lease of 50 ms')
      assert.ok(next.fence > fence)
    },
  },
  {
    name: 'horizon: a repair lowers it to the point up to which records were removed, and not below',
    needs: ['retention'],
    async run({ store, rival }) {
      const { now } = await retentionOf(store).raise(100 * aDay)
      const old = born('old', after(now, -20 * aDay))
      await claimAll(store, old, born('recorded', after(now, -5 * aDay)))
      await retentionOf(store).raise(10 * aDay)
      assert.equal(await removeAll(store, after(now, -11 * aDay)), 1)
      const { horizon: wrong } = await retentionOf(store).raise(aDay / 24)

      const repaired = await retentionOf(rival).repairHorizon()
      assert.deepEqual(repaired.before, wrong)
      const { horizon } = repaired
      assert.deepEqual(await retentionOf(store).horizon(), horizon)
      assert.ok(horizon && horizon > present(old.born, 'its time'), 'what was removed could run again')
      assert.ok(
        horizon <= after(now, -18 * aDay),
        `it stays at ${horizon.toISOString()} although nothing of then is gone`,
      )
      const requests = [born('new', after(now, -3 * aDay)), old, born('recorded', after(now, -5 * aDay))]
      assert.deepEqual(verdicts(await claimAll(store, ...requests)), ['first', 'too old', 'processed'])
      assert.deepEqual(await retentionOf(store).repairHorizon(), { before: horizon, horizon })
    },
  },
  {
    name: 'horizon: if nothing was removed, a repair leaves none, and a process that was about to remove finds nothing to do',
    needs: ['retention'],
    async run({ store, rival }) {
      const { now } = await retentionOf(store).raise(100 * aDay)
      await claimAll(store, born('m1', after(now, -5 * aDay)))
      const { horizon } = await retentionOf(store).raise(aDay)
      assert.deepEqual(await retentionOf(rival).repairHorizon(), { before: horizon, horizon: undefined })
      assert.equal(await removeAll(store, after(present(horizon, 'the horizon'), -3_600_000)), 0)
      assert.deepEqual(verdicts(await claimAll(store, born('m1', after(now, -5 * aDay)))), ['processed'])
      assert.equal(await retentionOf(store).horizon(), undefined)
    },
  },
  {
    name: 'clock: what was sent, or given back, while it was ahead can be taken when it is right again',
    needs: ['queue', 'clock'],
    async run({ store, rival, moveClock }) {
      await moveClock?.(aDay)
      await send(store, 'q1')
      await queueOf(store).hide('notes', await take(store, 1), 0, { untaken: true })
      await send(store, 'q2')
      await moveClock?.(-aDay)
      assert.deepEqual(await countsOf(rival), { ready: 2, hidden: 0 })
      assert.deepEqual(textsOf(await take(rival, 10)), ['q1', 'q2'])
    },
  },
  {
    name: 'clock: what was taken while it was ahead is not hidden for much longer than that once it is right again',
    needs: ['queue', 'clock'],
    async run({ store, rival, moveClock }) {
      await sendKeyed(store, 'a1', 'a2', 'b1')
      await moveClock?.(40 * aDay)
      const held = await take(store, 1)
      await moveClock?.(-40 * aDay)
      assert.deepEqual(textsOf(await take(rival, 10)), ['b1'], 'it was taken from somebody who may be alive')
      await moveClock?.(aDay / 24)
      assert.deepEqual(textsOf(await take(rival, 10, 2 * aDay)), ['a1', 'a2', 'b1'], 'it is hidden for days')
      await queueOf(store).hide('notes', held, aMinute)
      await moveClock?.(aDay)
      assert.deepEqual(await take(store, 10, 2 * aDay), [], 'what somebody has asked for is cut short')
    },
  },
  {
    name: 'clock: whoever is alive keeps what was taken while it was ahead',
    needs: ['queue', 'clock'],
    async run({ store, rival, moveClock }) {
      await send(store, 'q1', 'q2')
      await moveClock?.(aDay)
      const held = await take(store, 2)
      await moveClock?.(-aDay)
      assert.deepEqual(await take(rival, 10), [])
      await queueOf(store).hide('notes', held.slice(0, 1), aDay / 24)
      await moveClock?.(aDay / 48)
      assert.deepEqual(textsOf(await take(rival, 10, aDay / 24)), ['q2'])
    },
  },
]
