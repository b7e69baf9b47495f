import assert from 'node:assert/strict'
import type { StoreCase } from '../store-case.ts'
import { eventually, failureOf, hold } from '../waiting.ts'
import { anHour } from './parked-rows.ts'

export const suspectCases: readonly StoreCase[] = [
  {
    name: 'suspects: each beginning is counted, for every process, one answer each in the order asked',
    async run({ store, rival }) {
      assert.deepEqual(await store.suspects.look(['b', 'a']), [0, 0])
      await store.suspects.begin(['b', 'a'])
      await rival.suspects.begin(['c', 'b'])
      assert.deepEqual(await rival.suspects.look(['c', 'unknown', 'b', 'a']), [1, 0, 2, 1])
      assert.deepEqual(await store.suspects.look(['a', 'b']), [1, 2])
      await store.suspects.begin([])
      assert.deepEqual(await store.suspects.look([]), [])
    },
  },
  {
    name: 'suspects: to look changes nothing',
    async run({ store, rival }) {
      await store.suspects.begin(['a'])
      for (let turn = 0; turn < 3; turn++) await rival.suspects.look(['a', 'b'])
      assert.deepEqual(await store.suspects.look(['a', 'b']), [1, 0])
    },
  },
  {
    name: 'suspects: ids are told apart to the last of 100 characters, and by case',
    async run({ store }) {
      const long = 'x'.repeat(99)
      const ids = [`${long}a`, `${long}b`, 'm', 'M', 'm0', '0m']
      await store.suspects.begin(ids)
      await store.transaction((tx) => store.suspects.clear(tx, [`${long}a`, 'M', 'm0']))
      assert.deepEqual(await store.suspects.look(ids), [0, 1, 1, 0, 0, 1])
    },
  },
  {
    name: 'suspects: several hundred begin at once',
    async run({ store }) {
      const ids = Array.from({ length: 500 }, (_, index) => `m${(index * 7) % 500}`)
      await store.suspects.begin(ids.slice(0, 100))
      await store.suspects.begin(ids)
      assert.deepEqual(
        await store.suspects.look(ids),
        ids.map((_, index) => (index < 100 ? 2 : 1)),
      )
    },
  },
  {
    name: 'suspects: what was counted stays counted when a transaction that ran beside it is undone',
    needs: ['concurrent'],
    async run({ store, rival, effects }) {
      const beside = await hold(store, (tx) => effects.write(tx, 'm1'))
      await store.suspects.begin(['m1'])
      assert.deepEqual(await rival.suspects.look(['m1']), [1])
      await beside.undo()
      assert.deepEqual(await rival.suspects.look(['m1']), [1])
    },
  },
  {
    name: 'suspects: nothing is held against cleared ones, and unknown ones are no error',
    async run({ store, rival }) {
      await store.suspects.begin(['a', 'b'])
      await store.suspects.begin(['a', 'b'])
      await rival.transaction(async (tx) => {
        await rival.suspects.clear(tx, ['a', 'unknown'])
        await rival.suspects.clear(tx, [])
      })
      assert.deepEqual(await store.suspects.look(['a', 'b', 'unknown']), [0, 2, 0])
      await store.suspects.begin(['a'])
      assert.deepEqual(await store.suspects.look(['a']), [1])
    },
  },
  {
    name: 'suspects: when the transaction that cleared them is undone their beginnings still count',
    async run({ store }) {
      await store.suspects.begin(['a'])
      const work = store.transaction(async (tx) => {
        await store.suspects.clear(tx, ['a'])
        throw new Error('the work failed')
      })
      await failureOf(work, 'work that throws')
      assert.deepEqual(await store.suspects.look(['a']), [1])
    },
  },
  {
    name: 'suspects: one beginning that is forgiven does not count, and none is left over for later',
    async run({ store, rival }) {
      await store.suspects.begin(['a', 'b'])
      await rival.suspects.begin(['a'])
      await store.suspects.forgive(['a', 'b', 'unknown'])
      assert.deepEqual(await store.suspects.look(['a', 'b', 'unknown']), [1, 0, 0])
      for (let turn = 0; turn < 4; turn++) await store.suspects.forgive(['a', 'unknown'])
      await store.suspects.forgive([])
      await rival.suspects.begin(['a', 'b', 'unknown'])
      assert.deepEqual(await store.suspects.look(['a', 'b', 'unknown']), [1, 1, 1])
    },
  },
  {
    name: 'suspects: those whose last beginning is long ago are forgotten, and no others',
    async run({ store, rival }) {
      await store.suspects.begin(['a', 'b'])
      await rival.suspects.begin(['b'])
      await rival.suspects.forget(anHour)
      assert.deepEqual(await store.suspects.look(['a', 'b']), [1, 2])
      const areGone = async () => {
        await store.suspects.forget(0)
        const counts = await rival.suspects.look(['a', 'b'])
        return counts.every((count) => count === 0) ? true : undefined
      }
      await eventually(areGone, 'the old ones being forgotten')
      await store.suspects.begin(['a'])
      assert.deepEqual(await rival.suspects.look(['a', 'b']), [1, 0])
    },
  },
  {
    name: 'suspects: processes that begin the same ones in opposite order do not stop each other, and all are counted',
    async run({ store, rival }) {
      const ids = Array.from({ length: 20 }, (_, index) => `m${index}`)
      const backwards = ids.toReversed()
      await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          index % 2 === 0 ? store.suspects.begin(ids) : rival.suspects.begin(backwards),
        ),
      )
      assert.deepEqual(
        await store.suspects.look(ids),
        ids.map(() => 12),
      )
    },
  },
]
