import assert from 'node:assert/strict'
import { withProcessClock } from '../process-clock.ts'
import { claim, parkedMessage, present, request } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { anHour } from './parked-rows.ts'
import { queueOf, send } from './queue-steps.ts'
import { aDay, retentionOf } from './retention-steps.ts'

const isAboutNow = (date: Date | undefined) => Math.abs((date?.getTime() ?? 0) - Date.now()) < anHour / 2

/** The clock of the process that calls is wrong by a day: no deadline and no time that is stored may follow it. */
export const processClockCases: readonly StoreCase[] = [
  {
    name: 'time: a lease lasts as long as was asked for, whatever the clock of its holder says',
    async run({ store, rival }) {
      const long = present(await withProcessClock(-aDay, () => store.leases.acquire('long', anHour)), 'the lease')
      assert.equal(await rival.leases.acquire('long', anHour), undefined, 'it had ended before it began')
      assert.equal(await withProcessClock(aDay, () => rival.leases.acquire('long', anHour)), undefined)
      assert.equal(await withProcessClock(aDay, () => store.leases.renew('long', long.fence, anHour)), true)
      assert.ok(await withProcessClock(aDay, () => store.leases.acquire('short', 50)))
      await eventually(() => rival.leases.acquire('short', 50), 'the end of a lease of 50 ms')
    },
  },
  {
    name: 'time: what is recorded and parked is dated by the database, whatever the clock of the process says',
    async run({ store }) {
      for (const [key, aheadMs] of [['behind', -aDay] as const, ['ahead', aDay] as const]) {
        await withProcessClock(aheadMs, () =>
          store.transaction(async (tx) => {
            await claim(store, tx, key)
            await store.parking.park(tx, [parkedMessage(key, { delayMs: 0 })])
          }),
        )
        const found = await store.inbox.find(request(key))
        assert.ok(isAboutNow(found?.processedAt), `${key}: processed at ${found?.processedAt.toISOString()}`)
        const [row] = await store.parking.list({ key })
        assert.ok(isAboutNow(row?.parkedAt) && isAboutNow(row?.nextAt), `${key}: next at ${row?.nextAt.toISOString()}`)
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
      const take = () => queueOf(store).take('notes', options(50))
      assert.equal((await withProcessClock(aDay, take)).length, 1)
      const again = await eventually(async () => {
        const taken = await withProcessClock(-aDay, () => queueOf(rival).take('notes', options(anHour)))
        return taken.length > 0 ? taken : undefined
      }, 'the message, after 50 ms')
      assert.equal(again.length, 1)
      assert.deepEqual(await queueOf(store).take('notes', options(50)), [], 'it was not hidden')
    },
  },
  {
    name: 'time: how long a message has waited in the queue is told by the database, whatever the clock of the process says',
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
