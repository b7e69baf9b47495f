import assert from 'node:assert/strict'
import type { StoreCase } from '../store-case.ts'
import { eventually, hold } from '../waiting.ts'
import { change, done, listedKeys, reserve } from './parked-rows.ts'
import { bury, drive, end, found, release, start } from './redrive-steps.ts'

export const redriveTakeCases: readonly StoreCase[] = [
  {
    name: 'redrive: whoever takes one learns all about it and the time of the database; where none runs there is none',
    needs: ['letters'],
    async run({ store, rival }) {
      assert.equal(await drive(store), undefined)
      await bury(store, 'm1', 'm2', 'm3')
      await start(store, 'r1')
      await release(store, 'r1', 2)
      await change(store, done('m1'))
      const taken = await rival.transaction((tx) => rival.redrives.take(tx))
      assert.ok(taken)
      assert.deepEqual(taken.redrive, (await found(store, 'r1')).redrive)
      assert.deepEqual(taken.progress, { unreleased: 1, untried: 1, failed: 0 })
      assert.ok(taken.now >= taken.redrive.startedAt, `${taken.now}`)
      assert.ok(Math.abs(taken.now.getTime() - Date.now()) < 1_800_000)
      await end(store, 'r1')
      assert.equal(await drive(store), undefined)
    },
  },
  {
    name: 'redrive: of several each has its turn',
    needs: ['letters'],
    async run({ store, rival }) {
      await start(store, 'r1')
      await start(store, 'r2')
      await start(store, 'stopped')
      await end(store, 'stopped', 'stopped')
      const first = await drive(store)
      const second = await drive(rival)
      assert.deepEqual([first, second].sort(), ['r1', 'r2'])
      // Two turns within one tick of the database's clock are equally long ago, so the third may need a few looks.
      for (const next of [first, second])
        await eventually(async () => ((await drive(store)) === next ? next : undefined), `the next turn of ${next}`)
    },
  },
  {
    name: 'redrive: one that another drives is left to it, without waiting',
    needs: ['letters', 'concurrent'],
    async run({ store, rival }) {
      await bury(store, 'm1')
      await start(store, 'r1')
      const driver = await hold(store, async (tx) => {
        assert.equal((await store.redrives.take(tx))?.redrive.id, 'r1')
        return store.redrives.release(tx, 'r1', 1)
      })
      assert.equal(driver.value, 1)
      assert.equal(await drive(rival), undefined)
      await start(rival, 'r2')
      assert.equal(await drive(rival), 'r2')
      await driver.undo()
      assert.equal(await drive(rival), 'r1')
      assert.deepEqual(await listedKeys(rival, { state: 'dead', redrive: 'r1' }), ['m1'])
    },
  },
  {
    name: 'redrive: its end does not disturb an attempt that is under way',
    needs: ['letters'],
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
    name: 'redrive: many that drive at the same time release each letter once',
    needs: ['letters'],
    async run({ store, rival }) {
      const keys = Array.from({ length: 12 }, (_, index) => `m${index}`)
      await bury(store, ...keys)
      await start(store, 'r1')
      const turn = (self: typeof store) =>
        self.transaction(async (tx) =>
          (await self.redrives.take(tx)) === undefined ? 0 : self.redrives.release(tx, 'r1', 3),
        )
      let released = 0
      while (released < 12) {
        const turns = await Promise.all([turn(store), turn(rival), turn(store), turn(rival)])
        released += turns.reduce((sum, each) => sum + each, 0)
        assert.ok(released <= 12, `${released} were released`)
        assert.equal(await store.parking.count({ state: 'waiting' }), released)
      }
      assert.equal(await release(rival, 'r1'), 0)
    },
  },
]
