import assert from 'node:assert/strict'
import { toQueue } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { hold } from '../waiting.ts'
import {
  aMinute,
  countsOf,
  deliveriesOf,
  keyOf,
  queueOf,
  remove,
  send,
  sendKeyed,
  take,
  takenAgain,
  textsOf,
} from './queue-steps.ts'

const anHour = 3_600_000

export const queueOrderCases: readonly StoreCase[] = [
  {
    name: 'queue order: nothing is taken behind a hidden message of its key; messages of other keys and without a key are',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'free')
      await sendKeyed(store, 'a1', 'a2', 'b1')
      await send(store, 'free too')
      assert.deepEqual(textsOf(await take(store, 2)), ['free', 'a1'])
      await sendKeyed(store, 'a3', 'c1')
      assert.deepEqual(textsOf(await take(rival, 10)), ['b1', 'free too', 'c1'])
      assert.deepEqual(textsOf(await take(store, 10)), [])
      assert.deepEqual(await countsOf(store), { ready: 2, hidden: 5 })
    },
  },
  {
    name: 'queue order: consecutive messages of one key are taken together, up to the limit, in the order sent',
    needs: ['queue'],
    async run({ store }) {
      await sendKeyed(store, 'a1', 'b1', 'a2', 'a3', 'b2')
      const first = await take(store, 3)
      assert.deepEqual(textsOf(first), ['a1', 'b1', 'a2'])
      assert.deepEqual(await take(store, 10), [])
      await remove(store, first)
      assert.deepEqual(textsOf(await take(store, 10)), ['a3', 'b2'])
    },
  },
  {
    name: 'queue order: when the first is removed or given back, what is behind it can be taken',
    needs: ['queue'],
    async run({ store, rival }) {
      await sendKeyed(store, 'a1', 'a2')
      const first = await take(store, 1)
      await queueOf(store).hide('notes', first, 0)
      assert.deepEqual(textsOf(await take(rival, 10)), ['a1', 'a2'])
      await remove(store, first)
      await sendKeyed(store, 'a3', 'b1', 'b2')
      assert.deepEqual(textsOf(await take(store, 2)), ['b1', 'b2'])
    },
  },
  {
    name: 'queue order: a run of messages with a hidden one in the middle is taken up to there',
    needs: ['queue'],
    async run({ store }) {
      await sendKeyed(store, 'a1', 'a2', 'a3')
      const taken = await take(store, 2)
      await queueOf(store).hide('notes', taken.slice(0, 1), 0)
      assert.deepEqual(textsOf(await take(store, 10)), ['a1'])
    },
  },
  {
    name: 'queue order: a refused message that waits holds back its key, and no other',
    needs: ['queue'],
    async run({ store, rival }) {
      await sendKeyed(store, 'a1', 'a2', 'b1')
      const [first, second] = await take(store, 2)
      assert.ok(first && second)
      await queueOf(store).hide('notes', [first], anHour)
      await queueOf(store).hide('notes', [second], 0, { untaken: true })
      assert.deepEqual(textsOf(await take(rival, 10)), ['b1'])
      await sendKeyed(store, 'a3', 'c1')
      assert.deepEqual(textsOf(await take(rival, 10)), ['c1'])
      assert.deepEqual(await countsOf(store), { ready: 2, hidden: 3 })
      await remove(store, [first])
      assert.deepEqual(textsOf(await take(rival, 10)), ['a2', 'a3'])
    },
  },
  {
    name: 'queue order: when the visibility of the first runs out, the run is taken from there',
    needs: ['queue'],
    async run({ store, rival }) {
      await sendKeyed(store, 'a1', 'a2')
      await take(store, 1, 1)
      const again = await takenAgain(rival)
      assert.deepEqual(textsOf(again), ['a1', 'a2'])
      assert.deepEqual(deliveriesOf(again), [2, 1])
    },
  },
  {
    name: 'queue order: keys are compared exactly, and each queue has its own',
    needs: ['queue'],
    async run({ store }) {
      const keys = ['k', 'K', 'k ', 'ķ', 'k%', '', '\0', '\0\0', '😀', '\ud800', 'k'.repeat(255), 'k'.repeat(20_000)]
      await queueOf(store).send(undefined, 'others', [toQueue('head', 'k')])
      await queueOf(store).take('others', { limit: 1, visibilityMs: aMinute })
      for (const [index, key] of keys.entries())
        await queueOf(store).send(undefined, 'notes', [toQueue(String(index), key)])
      for (const index of keys.keys()) assert.deepEqual(textsOf(await take(store, 1)), [String(index)])
    },
  },
  {
    name: 'queue order: a backlog of 300 behind a hidden message does not hide others',
    needs: ['queue'],
    async run({ store }) {
      await sendKeyed(store, ...Array.from({ length: 301 }, (_, index) => `a${index}`), 'b1')
      await send(store, 'free')
      assert.deepEqual(textsOf(await take(store, 1)), ['a0'])
      assert.deepEqual(textsOf(await take(store, 2)), ['b1', 'free'])
    },
  },
  {
    name: 'queue order: nor does a pile behind a hidden message that is itself behind another pile',
    needs: ['queue'],
    async run({ store }) {
      const pile = (key: string, size: number) => Array.from({ length: size }, (_, index) => `${key}${index}`)
      await sendKeyed(store, ...pile('a', 301), ...pile('b', 31), 'c1')
      await send(store, 'free')
      assert.deepEqual(textsOf(await take(store, 1)), ['a0'])
      assert.deepEqual(textsOf(await take(store, 1)), ['b0'])
      assert.deepEqual(textsOf(await take(store, 2)), ['c1', 'free'])
    },
  },
  {
    name: 'queue order: a removal that is not committed yet frees nothing',
    needs: ['queue', 'concurrent'],
    async run({ store, rival }) {
      await sendKeyed(store, 'a1', 'a2')
      const [first] = await take(store, 1)
      const removing = await hold(store, (tx) => queueOf(store).remove(tx, 'notes', [first?.ticket ?? '']))
      assert.deepEqual(await take(rival, 10), [])
      await removing.commit()
      assert.deepEqual(textsOf(await take(rival, 10)), ['a2'])
    },
  },
  {
    name: 'queue order: rivals that take at the same time never share a key, and every key comes in order',
    needs: ['queue'],
    async run({ store, rival }) {
      const numbers = Array.from({ length: 12 }, (_, index) => String(index).padStart(2, '0'))
      const texts = numbers.flatMap((number) => ['a', 'b', 'c', 'd'].map((key) => `${key}${number}`))
      await sendKeyed(store, ...texts)
      const holders = new Map<string, number>()
      const came: string[] = []
      const drain = async (self: typeof store, name: number) => {
        while (came.length < texts.length) {
          const taken = await take(self, 3)
          for (const text of textsOf(taken)) {
            const holder = holders.get(keyOf(text))
            assert.ok(holder === undefined || holder === name, `${text} was taken while another held its key`)
            holders.set(keyOf(text), name)
            came.push(text)
          }
          await self.ping()
          for (const text of textsOf(taken)) holders.delete(keyOf(text))
          await remove(self, taken)
        }
      }
      await Promise.all([drain(store, 1), drain(rival, 2), drain(store, 3), drain(rival, 4)])
      for (const key of ['a', 'b', 'c', 'd'])
        assert.deepEqual(
          came.filter((text) => keyOf(text) === key),
          texts.filter((text) => keyOf(text) === key),
        )
    },
  },
]
