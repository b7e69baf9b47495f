import assert from 'node:assert/strict'
import { suspectsOf } from '../../facts/index.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually, failureOf, hold } from '../waiting.ts'

export const suspectCases: readonly StoreCase[] = [
  {
    name: 'suspects: each start is counted, across processes, with one answer each, in order',
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
    name: 'suspects: reading changes nothing',
    async run({ store, rival }) {
      await suspectsOf(store).begin(['a'])
      for (let turn = 0; turn < 3; turn++) await suspectsOf(rival).look(['a', 'b'])
      assert.deepEqual(await suspectsOf(store).look(['a', 'b']), [1, 0])
    },
  },
  {
    name: 'suspects: ids of 100 characters are compared in full and case-sensitively',
    async run({ store }) {
      const long = 'x'.repeat(99)
      const ids = [`${long}a`, `${long}b`, 'm', 'M', 'm0', '0m']
      await suspectsOf(store).begin(ids)
      await store.transaction((tx) => suspectsOf(store).clear(tx, [`${long}a`, 'M', 'm0']))
      assert.deepEqual(await suspectsOf(store).look(ids), [0, 1, 1, 0, 0, 1])
    },
  },
  {
    name: 'suspects: several hundred can start at once',
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
    name: 'suspects: what was counted stays counted when a transaction that ran beside it is rolled back',
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
    name: 'suspects: cleared ones start from zero again, and clearing unknown ones is no error',
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
    name: 'suspects: if the transaction that cleared them is rolled back, their starts still count',
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
    name: 'suspects: a start that is forgiven does not count, and forgiving too often gives no credit',
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
    name: 'suspects: those whose last start was long ago are forgotten, and no others',
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
    name: 'suspects: processes that start the same ones in opposite order do not block each other, and all are counted',
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
