import assert from 'node:assert/strict'
import type { QueuedMessage } from '../../contracts/index.ts'
import { leasesOf, suspectsOf } from '../../facts/index.ts'
import { withProcessClock } from '../process-clock.ts'
import { claim, parkedMessage, present, recordOf, request } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { again, anHour, change, keysOf, park, reserve } from './parked-rows.ts'
import { queueOf, send, take, takenAgain, textsOf } from './queue-steps.ts'
import { aDay, retentionOf } from './retention-steps.ts'

/** Short enough to serve as ids of suspects. */
const clocks = [
  ['behind', -aDay],
  ['ahead', aDay],
] as const

const isAboutNow = (date: Date | undefined) => Math.abs((date?.getTime() ?? 0) - Date.now()) < anHour / 2

/** The clock of the calling process is wrong by a day. No deadline and no stored time may depend on it. */
export const processClockCases: readonly StoreCase[] = [
  {
    name: 'time: a lease lasts as long as was asked for, whatever the clock of its holder says',
    async run({ store, rival }) {
      const long = present(await withProcessClock(-aDay, () => leasesOf(store).acquire('long', anHour)), 'the lease')
      assert.equal(await leasesOf(rival).acquire('long', anHour), undefined, 'it had ended before it began')
      assert.equal(await withProcessClock(aDay, () => leasesOf(rival).acquire('long', anHour)), undefined)
      for (const aheadMs of [aDay, -aDay]) {
        assert.equal(await withProcessClock(aheadMs, () => leasesOf(store).renew('long', long.fence, anHour)), true)
        assert.equal(await leasesOf(rival).acquire('long', anHour), undefined, 'it was renewed into the past')
      }
      assert.ok(await withProcessClock(aDay, () => leasesOf(store).acquire('short', 50)))
      await eventually(() => leasesOf(rival).acquire('short', 50), 'the end of a lease of 50 ms')
    },
  },
  {
    name: 'time: what is recorded and parked is dated by the database, whatever the clock of the process says',
    async run({ store }) {
      for (const [key, aheadMs] of clocks) {
        await withProcessClock(aheadMs, () =>
          store.transaction(async (tx) => {
            await claim(store, tx, key)
            await store.parking.park(tx, [parkedMessage(key, { delayMs: 0 })])
          }),
        )
        const found = await recordOf(store, request(key))
        assert.ok(isAboutNow(found?.processedAt), `${key}: processed at ${found?.processedAt.toISOString()}`)
        const [row] = await store.parking.list({ key })
        assert.ok(isAboutNow(row?.parkedAt) && isAboutNow(row?.nextAt), `${key}: next at ${row?.nextAt.toISOString()}`)
      }
    },
  },
  {
    name: 'time: what is parked is due when the database says so, whatever the clock of the process says',
    async run({ store, rival }) {
      for (const [key, aheadMs] of clocks) {
        await park(store, parkedMessage(key), parkedMessage(`${key}, later`, { delayMs: anHour }))
        assert.deepEqual(keysOf(await withProcessClock(aheadMs, () => reserve(rival))), [key])
      }
    },
  },
  {
    name: 'time: a reservation and its renewal last as long as was asked for, whatever the clock of the process says',
    async run({ store, rival }) {
      const dueTo = (key: string) =>
        eventually(async () => (await reserve(rival, { forMs: 50 })).find((row) => row.key === key), `${key} being due`)
      for (const [key, aheadMs] of clocks) {
        const wrong = <T>(work: () => Promise<T>) => withProcessClock(aheadMs, work)
        await park(store, parkedMessage(key))
        assert.deepEqual(keysOf(await wrong(() => reserve(store, { forMs: 50 }))), [key])
        await wrong(async () => store.parking.rebook([await dueTo(key)], anHour))
        assert.deepEqual(await reserve(rival), [], `${key}: rebooked into the past`)
        await wrong(() => change(store, again(key, { delayMs: 50 })))
        await dueTo(key)
        await wrong(() => change(store, again(key, { delayMs: anHour })))
        assert.deepEqual(await reserve(rival), [], `${key}: put off into the past`)
      }
    },
  },
  {
    name: 'time: suspects are forgotten when the database says that it is time, whatever the clock of the process says',
    async run({ store, rival }) {
      for (const [id, aheadMs] of clocks) {
        await withProcessClock(aheadMs, () => suspectsOf(store, anHour).begin([id]))
        for (const [, later] of clocks) await withProcessClock(later, () => suspectsOf(rival).sweep())
        assert.deepEqual(await suspectsOf(store).look([id]), [1], `begun ${id}`)
        await withProcessClock(aheadMs, () => suspectsOf(rival, 1).begin([id]))
        await eventually(async () => {
          const [count] = await withProcessClock(aheadMs, () => suspectsOf(store).look([id]))
          return count === 0 ? true : undefined
        }, `forgetting what was begun ${id}`)
      }
    },
  },
  {
    name: 'time: the horizon is counted from the time of the database, whatever the clock of the process says',
    needs: ['retention'],
    async run({ store }) {
      const { now, horizon } = await withProcessClock(3 * aDay, () => retentionOf(store).raise(2 * aDay))
      assert.ok(isAboutNow(now), now.toISOString())
      assert.equal(now.getTime() - (horizon?.getTime() ?? 0), 2 * aDay)
    },
  },
  {
    name: 'time: what was taken from the queue is hidden as long as was asked for, whatever the clock of the process says',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'q1')
      const options = (visibilityMs: number) => ({ limit: 10, visibilityMs })
      const takeFirst = () => queueOf(store).take('notes', options(50))
      assert.equal((await withProcessClock(aDay, takeFirst)).length, 1)
      const again = await eventually(async () => {
        const taken = await withProcessClock(-aDay, () => queueOf(rival).take('notes', options(anHour)))
        return taken.length > 0 ? taken : undefined
      }, 'the message, after 50 ms')
      assert.equal(again.length, 1)
      assert.deepEqual(await queueOf(store).take('notes', options(50)), [], 'it was not hidden')
    },
  },
  {
    name: 'time: a message hidden again stays hidden as long as was asked for, whatever the clock of the process says',
    needs: ['queue'],
    async run({ store, rival }) {
      for (const [text, aheadMs] of clocks) {
        const hide = (taken: readonly QueuedMessage[], ms: number) =>
          withProcessClock(aheadMs, () => queueOf(store).hide('notes', taken, ms))
        await send(store, text)
        await hide(await take(store, 1), 50)
        const retaken = await takenAgain(rival)
        assert.deepEqual(textsOf(retaken), [text])
        await hide(retaken, anHour)
        assert.deepEqual(await take(rival, 1), [], `${text}: hidden into the past`)
      }
    },
  },
  {
    name: 'time: the database says how long a message has waited in the queue, whatever the clock of the process says',
    needs: ['queue'],
    async run({ store, rival }) {
      await withProcessClock(aDay, () => send(store, 'q1'))
      for (const aheadMs of [-aDay, 0, aDay]) {
        const { oldestMs } = await withProcessClock(aheadMs, () => queueOf(rival).count('notes'))
        assert.ok(oldestMs !== undefined && Math.abs(oldestMs) < anHour / 2, `it has waited for ${oldestMs} ms`)
      }
    },
  },
]
