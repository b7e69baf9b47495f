import assert from 'node:assert/strict'
import { operations } from '../../operations/index.ts'
import { findRedrives, listRedrives, progressOf, runningRedrives, startRedrive } from '../../operations/redrives.ts'
import { parkedMessage } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf } from '../waiting.ts'
import { again, change, dead, done, dueKeys, listedKeys, park, reserve, rowOf } from './parked-rows.ts'
import { bury, end, found, redriveSettings, release, releaseAsSeen, start } from './redrive-steps.ts'

/** Redrives built on facts and marks: what they require of a store. */
export const redriveCases: readonly StoreCase[] = [
  {
    name: 'redrive: every field is returned, and the dead letters that match are its selection',
    async run({ store, rival }) {
      const settings = redriveSettings('r1', { by: 'bo "b"', why: `it's 100% ü`, canary: 3, perSecond: 0.5 })
      await bury(store, 'm1', 'm2', 'm3')
      await park(store, parkedMessage('waiting'), parkedMessage('other', { state: 'dead', shape: 'other' }))
      const running = await runningRedrives(store)
      const filter = { shape: 'no', state: 'dead' } as const
      assert.equal(await store.transaction((tx) => startRedrive(store, tx, running, settings, filter)), 3)
      const { startedAt, ...rest } = (await found(rival, 'r1')).redrive
      assert.deepEqual(rest, { ...settings, state: 'running', selected: 3, endedAt: undefined, reached: undefined })
      assert.ok(Math.abs(startedAt.getTime() - Date.now()) < 1_800_000)
      assert.deepEqual(await progressOf(rival, 'r1'), { unreleased: 3, untried: 0, failed: 0 })
      assert.deepEqual(await listedKeys(rival, { redrive: 'r1' }), ['m1', 'm2', 'm3'])
      assert.deepEqual((await runningRedrives(rival)).ids, ['r1'])
      assert.deepEqual(await findRedrives(rival, ['r2']), [undefined])
      await release(store, 'r1', 1)
      assert.deepEqual((await found(rival, 'r1')).redrive.startedAt, startedAt, 'after a release')
    },
  },
  {
    name: 'redrive: marking a letter keeps its revision, and releasing it does not',
    async run({ store, rival }) {
      await bury(store, 'm1')
      const { revision } = await rowOf(store, 'm1')
      await start(store, 'r1')
      assert.equal((await rowOf(rival, 'm1')).revision, revision, 'by being selected')
      await end(store, 'r1', 'stopped')
      assert.equal((await rowOf(rival, 'm1')).revision, revision, 'by the end of its redrive')
      await start(store, 'r2')
      assert.equal(await release(store, 'r2'), 1)
      assert.ok((await rowOf(rival, 'm1')).revision > revision)
    },
  },
  {
    name: 'redrive: its selection is frozen: what dies later is not in it, and no letter is in two',
    async run({ store }) {
      await bury(store, 'm1', 'm2')
      assert.equal(await start(store, 'r1', { key: 'm1' }), 1)
      assert.equal(await start(store, 'r2'), 1)
      await bury(store, 'm3')
      assert.equal(await release(store, 'r1'), 1)
      await change(store, dead('m1'))
      assert.equal(await start(store, 'r3'), 1, 'only m3 is in no redrive')
      assert.deepEqual(await listedKeys(store, { redrive: 'r2' }), ['m2'])
      assert.deepEqual(await listedKeys(store, { redrive: 'r3' }), ['m3'])
      assert.equal(await start(store, 'r4'), 0)
    },
  },
  {
    name: 'redrive: if two start at the same time, each letter is in one of them',
    async run({ store, rival }) {
      const keys = Array.from({ length: 12 }, (_, index) => `m${index}`)
      await bury(store, ...keys)
      const selected = new Map<string, number>()
      const startOn = async (on: typeof store, id: string): Promise<void> => {
        // The second one is refused, and starts again.
        for (let turn = 0; turn < 20 && !selected.has(id); turn++)
          await start(on, id).then(
            (count) => selected.set(id, count),
            () => undefined,
          )
      }
      await Promise.all([startOn(store, 'r1'), startOn(rival, 'r2')])
      assert.deepEqual([...selected.values()].sort(), [0, 12])
      for (const [id, count] of selected)
        assert.deepEqual(await listedKeys(store, { redrive: id }), count === 0 ? [] : keys)
      assert.deepEqual((await runningRedrives(store)).ids.toSorted(), ['r1', 'r2'])
    },
  },
  {
    name: 'redrive: if one starts just before letters are discarded, its own are kept',
    async run({ store, rival }) {
      await bury(store, 'm1', 'm2', 'm3')
      let turns = 0
      const late: typeof store = {
        ...store,
        async transaction(work, options) {
          if (++turns === 1) await start(rival, 'r1', { key: 'm2' })
          return await store.transaction(work, options)
        },
      }
      assert.equal(await operations(late).letters.discard('all', { by: 'ana' }), 2)
      assert.deepEqual(await listedKeys(store), ['m2'])
      assert.deepEqual(await progressOf(store, 'r1'), { unreleased: 1, untried: 0, failed: 0 })
    },
  },
  {
    name: 'redrive: letters that are discarded while it starts are discarded or in it, never both',
    async run({ store, rival }) {
      const keys = Array.from({ length: 12 }, (_, index) => `m${index}`)
      await bury(store, ...keys)
      const [discarded, redrive] = await Promise.allSettled([
        operations(store).letters.discard('all', { by: 'ana' }),
        operations(rival).letters.redrive('all', { by: 'bo' }),
      ])
      const count = discarded.status === 'fulfilled' ? discarded.value : 0
      const { id, selected } = redrive.status === 'fulfilled' ? redrive.value : { id: '', selected: 0 }
      assert.ok(count + selected > 0)
      assert.equal((await listedKeys(store, { redrive: id })).length, selected)
      assert.equal((await listedKeys(store)).length, keys.length - count)
    },
  },
  {
    name: 'redrive: letters are released in the order of parking, up to the limit, each once',
    async run({ store }) {
      await bury(store, 'm3', 'm1', 'm2')
      await start(store, 'r1')
      assert.deepEqual(await dueKeys(store), [])
      assert.equal(await release(store, 'r1', 2), 2)
      assert.deepEqual(await listedKeys(store, { state: 'waiting' }), ['m3', 'm1'])
      assert.equal(await release(store, 'r1', 2), 1)
      assert.equal(await release(store, 'r1', 2), 0)
      assert.deepEqual(await dueKeys(store), ['m1', 'm2', 'm3'])
    },
  },
  {
    name: 'redrive: a released letter waits, is due now and has no attempts, and its errors are kept',
    async run({ store }) {
      await bury(store, 'm1', 'm2')
      const before = await rowOf(store, 'm1')
      await start(store, 'r1')
      await release(store, 'r1', 1)
      const { state, attempts, errors, reason, shape, sequence, revision, redrive, released } = await rowOf(store, 'm1')
      assert.deepEqual([state, attempts, redrive, released], ['waiting', 0, 'r1', true])
      assert.deepEqual([errors, reason, shape, sequence], [before.errors, before.reason, before.shape, before.sequence])
      assert.ok(revision > before.revision)
      assert.deepEqual(await dueKeys(store), ['m1'])
      const other = await rowOf(store, 'm2')
      assert.deepEqual([other.state, other.attempts, other.released], ['dead', 5, false])
    },
  },
  {
    name: 'redrive: progress is counted from the rows: what failed, waiting or dead again, and what is not tried yet',
    async run({ store, rival }) {
      await bury(store, 'm1', 'm2', 'm3', 'm4', 'm5', 'm6')
      await start(store, 'r1')
      await release(store, 'r1', 4)
      assert.deepEqual(await progressOf(rival, 'r1'), { unreleased: 2, untried: 4, failed: 0 })
      await change(store, again('m1', { attempts: 1 }), dead('m2', { attempts: 1 }), done('m3'))
      assert.deepEqual(await progressOf(rival, 'r1'), { unreleased: 2, untried: 1, failed: 2 })
      await change(store, done('m1'))
      await store.transaction((tx) => store.parking.edit(tx, { key: 'm6' }, { kind: 'remove' }, 1))
      assert.deepEqual(await progressOf(rival, 'r1'), { unreleased: 1, untried: 1, failed: 1 })
      assert.equal((await found(rival, 'r1')).redrive.selected, 6)
      assert.equal(await release(store, 'r1'), 1, 'what has failed again is not released again')
      assert.equal((await rowOf(store, 'm2')).state, 'dead')
    },
  },
  {
    name: 'redrive: a row that replaces one of its rows counts as released, and keeps the body that was received',
    async run({ store, rival }) {
      await bury(store, 'm1', 'm2')
      await start(store, 'r1')
      await release(store, 'r1', 1)
      const originalBody = new Uint8Array([0, 1, 255])
      const failed = { attempts: 1, redrive: 'r1', originalBody }
      await store.transaction(async (tx) => {
        await store.parking.change(tx, [done('m1')])
        await store.parking.park(tx, [parkedMessage('m3', failed), parkedMessage('m4', { ...failed, state: 'dead' })])
        await store.parking.park(tx, [parkedMessage('m5')])
      })
      assert.deepEqual(await progressOf(rival, 'r1'), { unreleased: 1, untried: 0, failed: 2 })
      assert.deepEqual(await listedKeys(rival, { redrive: 'r1', released: true }), ['m3', 'm4'])
      const row = await rowOf(rival, 'm3')
      assert.deepEqual([row.redrive, row.released, [...(row.originalBody ?? [])]], ['r1', true, [0, 1, 255]])
      const other = await rowOf(rival, 'm5')
      assert.deepEqual([other.redrive, other.released, other.originalBody], [undefined, false, undefined])
      await change(store, done('m3'), done('m4'))
      assert.deepEqual(await progressOf(rival, 'r1'), { unreleased: 1, untried: 0, failed: 0 })
    },
  },
  {
    name: 'redrive: after its end its marks no longer count; what was not released stays dead, and another may select it',
    async run({ store }) {
      await bury(store, 'm1', 'm2', 'm3')
      await start(store, 'r1')
      await release(store, 'r1', 2)
      await change(store, dead('m1', { attempts: 1 }))
      await end(store, 'r1', 'stopped')
      const { redrive } = await found(store, 'r1')
      assert.deepEqual([redrive.state, redrive.selected], ['stopped', 3])
      assert.deepEqual(redrive.reached, { unreleased: 1, untried: 1, failed: 1 })
      assert.ok(redrive.endedAt && redrive.endedAt >= redrive.startedAt)
      assert.deepEqual((await runningRedrives(store)).ids, [])
      assert.deepEqual(await listedKeys(store, { state: 'dead' }), ['m1', 'm3'])

      assert.equal(await start(store, 'r2'), 2)
      assert.deepEqual(await progressOf(store, 'r2'), { unreleased: 2, untried: 0, failed: 0 })
      assert.equal(await release(store, 'r2'), 2)
      await end(store, 'r2')
      assert.equal((await found(store, 'r2')).redrive.state, 'finished')
    },
  },
  {
    name: 'redrive: if the transaction is rolled back, it has neither started nor released nor ended',
    async run({ store }) {
      await bury(store, 'm1')
      const failing = { ...store, transaction: undone }
      await failureOf(start(failing, 'r1'), 'a start that is undone')
      assert.deepEqual(await findRedrives(store, ['r1']), [undefined])
      assert.equal(await start(store, 'r1'), 1)
      await failureOf(release(failing, 'r1'), 'a release that is undone')
      await failureOf(end(failing, 'r1', 'stopped'), 'an end that is undone')
      assert.equal((await found(store, 'r1')).redrive.state, 'running')
      assert.equal((await progressOf(store, 'r1')).unreleased, 1)

      function undone<T>(work: Parameters<typeof store.transaction<T>>[0]): Promise<T> {
        return store.transaction(async (tx) => {
          await work(tx)
          throw new Error('the work failed')
        })
      }
    },
  },
  {
    name: 'redrive: the latest is listed first, up to the limit',
    async run({ store }) {
      for (const id of ['r2', 'r1', 'r3']) await start(store, id)
      await end(store, 'r1')
      const ids = async (limit: number) => (await listRedrives(store, limit)).map(({ id }) => id)
      const startedAt = new Map(
        await Promise.all(
          ['r1', 'r2', 'r3'].map(async (id) => [id, (await found(store, id)).redrive.startedAt] as const),
        ),
      )
      const byStart = (a: string, b: string) => Number(startedAt.get(b)) - Number(startedAt.get(a)) || (a < b ? 1 : -1)
      assert.deepEqual(await ids(10), ['r1', 'r2', 'r3'].sort(byStart))
      assert.equal((await ids(2)).length, 2)
    },
  },
  {
    name: 'redrive: a driver that looked before something was released, or before it ended, releases nothing',
    async run({ store, rival }) {
      await bury(store, 'm1', 'm2', 'm3')
      await start(store, 'r1')
      const seen = await found(rival, 'r1')
      assert.equal(await release(store, 'r1', 1), 1)
      await failureOf(releaseAsSeen(rival, seen, 1), 'a release by one who has not seen the other')
      assert.deepEqual(await listedKeys(store, { state: 'waiting' }), ['m1'])
      const seenLater = await found(rival, 'r1')
      await end(store, 'r1', 'stopped')
      await failureOf(releaseAsSeen(rival, seenLater, 1), 'a release after the end')
      assert.deepEqual(await listedKeys(store, { state: 'dead' }), ['m2', 'm3'])
    },
  },
  {
    name: 'redrive: its end does not disturb an attempt that is under way',
    async run({ store, rival }) {
      await bury(store, 'm1')
      await start(store, 'r1')
      await release(store, 'r1')
      const reserved = await reserve(store)
      await end(rival, 'r1', 'stopped')
      assert.deepEqual(await store.transaction((tx) => store.parking.take(tx, reserved)), [true])
    },
  },
  {
    name: 'redrive: many processes that drive it at the same time release each letter once',
    async run({ store, rival }) {
      const keys = Array.from({ length: 12 }, (_, index) => `m${index}`)
      await bury(store, ...keys)
      await start(store, 'r1')
      const turn = (self: typeof store) => release(self, 'r1', 3).catch(() => 0)
      let released = 0
      while (released < 12) {
        const turns = await Promise.all([turn(store), turn(rival), turn(store), turn(rival)])
        released += turns.reduce((sum, each) => sum + each, 0)
        assert.ok(released <= 12, `${released} were released`)
        assert.equal((await listedKeys(store, { state: 'waiting' })).length, released)
      }
      assert.equal(await release(rival, 'r1'), 0)
    },
  },
]
