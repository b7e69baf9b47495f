import assert from 'node:assert/strict'
import type { Store } from '../../contracts/index.ts'
import { textOf, toQueue } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually, hold } from '../waiting.ts'
import { aMinute, queueOf, send, take, textsOf } from './queue-steps.ts'

export const queueOrderCases: readonly StoreCase[] = [
  {
    name: 'queue order: nothing is taken behind a hidden message of its key; other keys and those without are',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'free')
      await sendKeyed(store, 'a1', 'a2', 'b1')
      await send(store, 'free too')
      assert.deepEqual(textsOf(await take(store, 2)), ['free', 'a1'])
      await sendKeyed(store, 'a3', 'c1')
      assert.deepEqual(textsOf(await take(rival, 10)), ['b1', 'free too', 'c1'])
      assert.deepEqual(textsOf(await take(store, 10)), [])
      assert.deepEqual(await queueOf(store).count('notes'), { ready: 2, hidden: 5 })
    },
  },
  {
    name: 'queue order: an unbroken row of one key is taken together, as far as the limit reaches, in the order sent',
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
    name: 'queue order: removed or given back, the first frees what is behind it',
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
    name: 'queue order: a row with a hidden one in the middle is taken up to there',
    needs: ['queue'],
    async run({ store }) {
      await sendKeyed(store, 'a1', 'a2', 'a3')
      const taken = await take(store, 2)
      await queueOf(store).hide('notes', taken.slice(0, 1), 0)
      assert.deepEqual(textsOf(await take(store, 10)), ['a1'])
    },
  },
  {
    name: 'queue order: when the visibility of the first runs out the row is taken from it on',
    needs: ['queue'],
    async run({ store, rival }) {
      await sendKeyed(store, 'a1', 'a2')
      await take(store, 1, 1)
      const again = await eventually(async () => {
        const taken = await take(rival, 10)
        return taken.length > 0 ? taken : undefined
      }, 'a visibility running out')
      assert.deepEqual(
        again.map(({ message, deliveries }) => [textOf(message), deliveries]),
        [
          ['a1', 2],
          ['a2', 1],
        ],
      )
    },
  },
  {
    name: 'queue order: keys are told apart as they are spelled, and each queue has its own',
    needs: ['queue'],
    async run({ store }) {
      const keys = ['k', 'K', 'k ', 'ķ', 'k%', 'k'.repeat(255)]
      await queueOf(store).send(undefined, 'others', [toQueue('head', 'k')])
      await queueOf(store).take('others', { limit: 1, visibilityMs: aMinute })
      for (const key of keys) await queueOf(store).send(undefined, 'notes', [toQueue(`of ${key}`, key)])
      for (const key of keys) assert.deepEqual(textsOf(await take(store, 1)), [`of ${key}`])
    },
  },
  {
    name: 'queue order: a pile of 300 behind a hidden message does not hide others',
    needs: ['queue'],
    async run({ store }) {
      await sendKeyed(store, ...Array.from({ length: 301 }, (_, index) => `a${index}`), 'b1')
      await send(store, 'free')
      assert.deepEqual(textsOf(await take(store, 1)), ['a0'])
      assert.deepEqual(textsOf(await take(store, 2)), ['b1', 'free'])
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

const keyOf = (text: string) => text.slice(0, 1)

/** The first letter of each text is its key. */
function sendKeyed<Tx>(store: Store<Tx>, ...texts: readonly string[]): Promise<void> {
  return queueOf(store).send(
    undefined,
    'notes',
    texts.map((text) => toQueue(text, keyOf(text))),
  )
}

function remove<Tx>(store: Store<Tx>, taken: readonly { readonly ticket: string }[]): Promise<void> {
  return queueOf(store).remove(
    undefined,
    'notes',
    taken.map(({ ticket }) => ticket),
  )
}
