import assert from 'node:assert/strict'
import { suspectsOf } from '../../facts/index.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually, failureOf, hold } from '../waiting.ts'

export const suspectCases: readonly StoreCase[] = [
  {
    name: 'suspects: each beginning is counted, for every process, one answer each in the order asked',
    async run({ store, rival }) {
      assert.deepEqual(await suspectsOf(store).look(['b', 'a']), [0, 0])
      await suspectsOf(store).begin(['b', 'a'])
      await suspectsOf(rival).begin(['c', 'b'])
      assert.deepEqual(await suspectsOf(rival).look(['c', 'unknown', 'b', 'a']), [1, 0, 2, 1])
      assert.deepEqual(await suspectsOf(store).look(['a', 'b']), [1, 2])
      await suspectsOf(store).begin([])
      assert.deepEqual(await suspectsOf(store).look([]), [])
    },
  },
  {
    name: 'suspects: to look changes nothing',
    async run({ store, rival }) {
      await suspectsOf(store).begin(['a'])
      for (let turn = 0; turn < 3; turn++) await suspectsOf(rival).look(['a', 'b'])
      assert.deepEqual(await suspectsOf(store).look(['a', 'b']), [1, 0])
    },
  },
  {
    name: 'suspects: ids are told apart to the last of 100 characters, and by case',
    async run({ store }) {
      const long = 'x'.repeat(99)
      const ids = [`${long}a`, `${long}b`, 'm', 'M', 'm0', '0m']
      await suspectsOf(store).begin(ids)
      await store.transaction((tx) => suspectsOf(store).clear(tx, [`${long}a`, 'M', 'm0']))
      assert.deepEqual(await suspectsOf(store).look(ids), [0, 1, 1, 0, 0, 1])
    },
  },
  {
    name: 'suspects: several hundred begin at once',
    async run({ store }) {
      const ids = Array.from({ length: 500 }, (_, index) => `m${(index * 7) % 500}`)
      await suspectsOf(store).begin(ids.slice(0, 100))
      await suspectsOf(store).begin(ids)
      assert.deepEqual(
        await suspectsOf(store).look(ids),
        ids.map((_, index) => (index < 100 ? 2 : 1)),
      )
    },
  },
  {
    name: 'suspects: what was counted stays counted when a transaction that ran beside it is undone',
    needs: ['concurrent'],
    async run({ store, rival, effects }) {
      const beside = await hold(store, (tx) => effects.write(tx, 'm1'))
      await suspectsOf(store).begin(['m1'])
      assert.deepEqual(await suspectsOf(rival).look(['m1']), [1])
      await beside.undo()
      assert.deepEqual(await suspectsOf(rival).look(['m1']), [1])
    },
  },
  {
    name: 'suspects: nothing is held against cleared ones, and unknown ones are no error',
    async run({ store, rival }) {
      await suspectsOf(store).begin(['a', 'b'])
      await suspectsOf(store).begin(['a', 'b'])
      await rival.transaction(async (tx) => {
        await suspectsOf(rival).clear(tx, ['a', 'unknown'])
        await suspectsOf(rival).clear(tx, [])
      })
      assert.deepEqual(await suspectsOf(store).look(['a', 'b', 'unknown']), [0, 2, 0])
      await suspectsOf(store).begin(['a'])
      assert.deepEqual(await suspectsOf(store).look(['a']), [1])
    },
  },
  {
    name: 'suspects: when the transaction that cleared them is undone their beginnings still count',
    async run({ store }) {
      await suspectsOf(store).begin(['a'])
      const work = store.transaction(async (tx) => {
        await suspectsOf(store).clear(tx, ['a'])
        throw new Error('the work failed')
      })
      await failureOf(work, 'work that throws')
      assert.deepEqual(await suspectsOf(store).look(['a']), [1])
    },
  },
  {
    name: 'suspects: one beginning that is forgiven does not count, and none is left over for later',
    async run({ store, rival }) {
      await suspectsOf(store).begin(['a', 'b'])
      await suspectsOf(rival).begin(['a'])
      await suspectsOf(store).forgive(['a', 'b', 'unknown'])
      assert.deepEqual(await suspectsOf(store).look(['a', 'b', 'unknown']), [1, 0, 0])
      for (let turn = 0; turn < 4; turn++) await suspectsOf(store).forgive(['a', 'unknown'])
      await suspectsOf(store).forgive([])
      await suspectsOf(rival).begin(['a', 'b', 'unknown'])
      assert.deepEqual(await suspectsOf(store).look(['a', 'b', 'unknown']), [1, 1, 1])
    },
  },
  {
    name: 'suspects: those whose last beginning is long ago are forgotten, and no others',
    async run({ store, rival }) {
      await suspectsOf(store).begin(['a', 'b'])
      await suspectsOf(rival).begin(['b'])
      await suspectsOf(store, 1).begin(['c'])
      await eventually(async () => ((await suspectsOf(rival).look(['c']))[0] === 0 ? true : undefined), 'its end')
      await suspectsOf(rival).sweep()
      assert.deepEqual(await suspectsOf(store).look(['a', 'b', 'c']), [1, 2, 0])
      await suspectsOf(store).begin(['a', 'c'])
      assert.deepEqual(await suspectsOf(rival).look(['a', 'b', 'c']), [2, 2, 1])
    },
  },
  {
    name: 'suspects: processes that begin the same ones in opposite order do not stop each other, and all are counted',
    async run({ store, rival }) {
      const ids = Array.from({ length: 20 }, (_, index) => `m${index}`)
      const backwards = ids.toReversed()
      await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          index % 2 === 0 ? suspectsOf(store).begin(ids) : suspectsOf(rival).begin(backwards),
        ),
      )
      assert.deepEqual(
        await suspectsOf(store).look(ids),
        ids.map(() => 12),
      )
    },
  },
]
