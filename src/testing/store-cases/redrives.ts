import assert from 'node:assert/strict'
import { parkedMessage } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf } from '../waiting.ts'
import { again, change, dead, done, dueKeys, listedKeys, park, rowOf } from './parked-rows.ts'
import { bury, end, found, progressOf, redriveSettings, release, start } from './redrive-steps.ts'

export const redriveCases: readonly StoreCase[] = [
  {
    name: 'redrive: everything about it comes back, and the dead letters that fit are its selection',
    needs: ['letters'],
    async run({ store, rival }) {
      const settings = redriveSettings('r1', { by: 'bo "b"', why: `it's 100% ü`, canary: 3, perSecond: 0.5 })
      await bury(store, 'm1', 'm2', 'm3')
      await park(store, parkedMessage('waiting'), parkedMessage('other', { state: 'dead', shape: 'other' }))
      const selected = await store.transaction((tx) => store.redrives.start(tx, settings, { shape: 'no' }))
      assert.equal(selected, 3)
      const { redrive, progress } = await found(rival, 'r1')
      const { startedAt, ...rest } = redrive
      assert.deepEqual(rest, { ...settings, state: 'running', selected: 3, endedAt: undefined, reached: undefined })
      assert.ok(Math.abs(startedAt.getTime() - Date.now()) < 1_800_000)
      assert.deepEqual(progress, { unreleased: 3, untried: 0, failed: 0 })
      assert.deepEqual(await listedKeys(rival, { redrive: 'r1' }), ['m1', 'm2', 'm3'])
      assert.equal(await rival.redrives.find('r2'), undefined)
    },
  },
  {
    name: 'redrive: its mark leaves the revision of a letter alone, and its release does not',
    needs: ['letters'],
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
    needs: ['letters'],
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
    name: 'redrive: letters are released in the order of parking, up to the limit, each once',
    needs: ['letters'],
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
    needs: ['letters'],
    async run({ store }) {
      await bury(store, 'm1', 'm2')
      const before = await rowOf(store, 'm1')
      await start(store, 'r1')
      await release(store, 'r1', 1)
      const { state, attempts, errors, reason, shape, sequence, revision, redrive } = await rowOf(store, 'm1')
      assert.deepEqual([state, attempts, redrive], ['waiting', 0, 'r1'])
      assert.deepEqual([errors, reason, shape, sequence], [before.errors, before.reason, before.shape, before.sequence])
      assert.ok(revision > before.revision)
      assert.deepEqual(await dueKeys(store), ['m1'])
      assert.deepEqual([(await rowOf(store, 'm2')).state, (await rowOf(store, 'm2')).attempts], ['dead', 5])
    },
  },
  {
    name: 'redrive: progress is counted from the rows: what failed, waiting or dead again, and what is not tried yet',
    needs: ['letters'],
    async run({ store, rival }) {
      await bury(store, 'm1', 'm2', 'm3', 'm4', 'm5', 'm6')
      await start(store, 'r1')
      await release(store, 'r1', 4)
      assert.deepEqual(await progressOf(rival, 'r1'), { unreleased: 2, untried: 4, failed: 0 })
      await change(store, again('m1', { attempts: 1 }), dead('m2', { attempts: 1 }), done('m3'))
      assert.deepEqual(await progressOf(rival, 'r1'), { unreleased: 2, untried: 1, failed: 2 })
      await change(store, done('m1'))
      await store.transaction((tx) => store.letters.discard(tx, { key: 'm6' }, 1))
      assert.deepEqual(await progressOf(rival, 'r1'), { unreleased: 1, untried: 1, failed: 1 })
      assert.equal((await found(rival, 'r1')).redrive.selected, 6)
      assert.equal(await release(store, 'r1'), 1, 'what has failed again is not released again')
      assert.equal((await rowOf(store, 'm2')).state, 'dead')
    },
  },
  {
    name: 'redrive: its end takes the marks away; what was not released stays dead, and another may select it',
    needs: ['letters'],
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
      assert.deepEqual(await listedKeys(store, { redrive: 'r1' }), [])
      assert.deepEqual(await listedKeys(store, { state: 'dead' }), ['m1', 'm3'])
      assert.equal(await release(store, 'r1'), 0)

      assert.equal(await start(store, 'r2'), 2)
      assert.deepEqual(await progressOf(store, 'r2'), { unreleased: 2, untried: 0, failed: 0 })
      assert.equal(await release(store, 'r2'), 2)
      await end(store, 'r2')
      assert.equal((await found(store, 'r2')).redrive.state, 'finished')
    },
  },
  {
    name: 'redrive: what is undone has neither started nor released nor ended',
    needs: ['letters'],
    async run({ store }) {
      await bury(store, 'm1')
      await undone((tx) => store.redrives.start(tx, redriveSettings('r1'), {}))
      assert.equal(await store.redrives.find('r1'), undefined)
      assert.equal(await start(store, 'r1'), 1)
      await undone((tx) => store.redrives.release(tx, 'r1', 10))
      await undone((tx) => store.redrives.end(tx, 'r1', 'stopped'))
      const { redrive, progress } = await found(store, 'r1')
      assert.deepEqual([redrive.state, progress.unreleased], ['running', 1])

      async function undone(work: (tx: Parameters<Parameters<typeof store.transaction>[0]>[0]) => Promise<unknown>) {
        const transaction = store.transaction(async (tx) => {
          await work(tx)
          throw new Error('the work failed')
        })
        await failureOf(transaction, 'work that throws')
      }
    },
  },
  {
    name: 'redrive: the latest is listed first, up to the limit',
    needs: ['letters'],
    async run({ store }) {
      for (const id of ['r2', 'r1', 'r3']) await start(store, id)
      await end(store, 'r1')
      const ids = async (limit: number) => (await store.redrives.list(limit)).map(({ id }) => id)
      assert.deepEqual(await ids(10), ['r3', 'r1', 'r2'])
      assert.deepEqual(await ids(2), ['r3', 'r1'])
    },
  },
]
