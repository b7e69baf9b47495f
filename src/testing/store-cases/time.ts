import assert from 'node:assert/strict'
import { claim, parkedMessage, present, recordOf, request } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { again, anHour, change, dead } from './parked-rows.ts'

/** Wide enough for any two clocks that are set at all, narrow enough to detect a wrong time zone or unit. */
function isAboutNow(date: Date | undefined): boolean {
  return date instanceof Date && Math.abs(date.getTime() - Date.now()) < anHour / 2
}

export const timeCases: readonly StoreCase[] = [
  {
    name: 'time: processedAt is the time of the claim, the same for everyone who asks',
    async run({ store, rival }) {
      await store.transaction((tx) => claim(store, tx, 'm1'))
      const found = await recordOf(store, request('m1'))
      const seen = await rival.transaction((tx) => claim(rival, tx, 'm1'))
      assert.ok(isAboutNow(found?.processedAt), String(found?.processedAt))
      assert.deepEqual(seen?.processedAt, found?.processedAt)
    },
  },
  {
    name: 'time: processedAt is the time of the last update, whatever the update changes',
    async run({ store }) {
      await store.transaction((tx) => claim(store, tx, 'm1'))
      const changes = [{ result: '1' }, { state: 'parked' }, { state: 'parked' }, {}, { state: 'discarded' }] as const
      for (const change of changes) {
        const before = present(await recordOf(store, request('m1')), 'the record').processedAt
        await eventually(
          async () => {
            const update = { ...request('m1'), state: 'processed', ...change } as const
            await store.transaction((tx) => store.inbox.update(tx, [update]))
            const { processedAt } = present(await recordOf(store, request('m1')), 'the record')
            return processedAt > before ? processedAt : undefined
          },
          `a later processedAt after the update ${JSON.stringify(change)}`,
        )
      }
      assert.ok(isAboutNow((await recordOf(store, request('m1')))?.processedAt))
    },
  },
  {
    name: 'time: parkedAt, changedAt and nextAt are dates; again keeps parkedAt, and dead sets nextAt to now',
    async run({ store }) {
      await store.transaction((tx) => store.parking.park(tx, [parkedMessage('m1')]))
      const [before] = await store.parking.list()
      await change(store, again('m1', { delayMs: 3 * anHour }))
      const [after] = await store.parking.list()
      assert.ok(before && after)
      assert.ok(isAboutNow(before.parkedAt) && isAboutNow(before.nextAt), `${before.parkedAt} ${before.nextAt}`)
      assert.ok(isAboutNow(before.changedAt) && isAboutNow(after.changedAt), `${before.changedAt} ${after.changedAt}`)
      assert.deepEqual(after.parkedAt, before.parkedAt)
      assert.ok(isAboutNow(new Date(after.nextAt.getTime() - 3 * anHour)), String(after.nextAt))
      await change(store, dead('m1'))
      const [died] = await store.parking.list()
      assert.ok(isAboutNow(died?.nextAt), String(died?.nextAt))
    },
  },
]
