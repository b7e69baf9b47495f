import assert from 'node:assert/strict'
import type { OperableStore } from '../../contracts/index.ts'
import { awkwardMessages, bytesOf, handler, packed, parkedMessage, request, textOf } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf, hold } from '../waiting.ts'
import { again, change, listedKeys, park, rowOf } from './parked-rows.ts'
import { bury } from './redrive-steps.ts'

export const letterCases: readonly StoreCase[] = [
  {
    name: 'letters: discard removes the oldest that fit, up to the limit, and tells which they were',
    needs: ['letters'],
    async run({ store }) {
      await bury(store, 'm3', 'm1')
      await park(store, parkedMessage('waiting'), parkedMessage('other', { state: 'dead', shape: 'other' }))
      await bury(store, 'm2')
      const discarded = await store.transaction((tx) => store.letters.discard(tx, { shape: 'no' }, 2))
      assert.deepEqual(
        discarded.map(({ handler, key }) => ({ handler, key })),
        [
          { handler, key: 'm3' },
          { handler, key: 'm1' },
        ],
      )
      assert.deepEqual(await listedKeys(store), ['waiting', 'other', 'm2'])
    },
  },
  {
    name: 'letters: what waits is never discarded, and where nothing fits nothing is',
    needs: ['letters'],
    async run({ store }) {
      await park(store, parkedMessage('m1'))
      await bury(store, 'm2')
      const discard = (keys: readonly string[]) =>
        store.transaction((tx) => store.letters.discard(tx, { keys: keys.map((key) => request(key)) }, 10))
      assert.deepEqual(await discard(['m1', 'gone']), [])
      assert.deepEqual(await discard([]), [])
      assert.deepEqual(await listedKeys(store), ['m1', 'm2'])
    },
  },
  {
    name: 'letters: what was discarded or edited in a transaction that is undone is as it was',
    needs: ['letters'],
    async run({ store }) {
      await bury(store, 'm1', 'm2')
      const before = await store.parking.list()
      const work = store.transaction(async (tx) => {
        await store.letters.discard(tx, { key: 'm1' }, 10)
        await store.letters.replace(tx, request('m2'), packed('edited'))
        throw new Error('the work failed')
      })
      await failureOf(work, 'work that throws')
      assert.deepEqual(await store.parking.list(), before)
    },
  },
  {
    name: 'letters: an edited letter keeps the body that was received first, however often it is edited',
    needs: ['letters'],
    async run({ store, rival }) {
      await bury(store, 'm1', 'm2')
      const before = await rowOf(store, 'm1')
      assert.equal(await replace(store, 'm1', 'second'), true)
      assert.equal(await replace(rival, 'm1', 'third'), true)
      const after = await rowOf(store, 'm1')
      assert.equal(textOf(after.message), 'third')
      assert.deepEqual([...after.message.envelope], [...packed('third').envelope])
      assert.deepEqual([...(after.originalBody ?? [])], [...packed('m1').body])
      const { message: _m, originalBody: _o, revision: _r, changedAt: _c, ...rest } = after
      const { message: _m0, originalBody: _o0, revision: _r0, changedAt: _c0, ...restBefore } = before
      assert.deepEqual(rest, restBefore)
      assert.equal((await rowOf(store, 'm2')).originalBody, undefined)
    },
  },
  {
    name: 'letters: bodies survive an edit byte for byte, the received one too, even when it is empty',
    needs: ['letters'],
    async run({ store }) {
      for (const [index, message] of awkwardMessages.entries())
        await park(store, parkedMessage(`m${index}`, { state: 'dead', message }))
      for (const [index, message] of awkwardMessages.toReversed().entries())
        await store.transaction((tx) => store.letters.replace(tx, request(`m${index}`), message))
      for (const [index, received] of awkwardMessages.entries()) {
        const row = await rowOf(store, `m${index}`)
        assert.deepEqual(bytesOf(row.message), bytesOf(awkwardMessages.at(-1 - index) ?? row.message))
        assert.ok(row.originalBody, `the body of m${index} is lost`)
        assert.deepEqual([...row.originalBody], [...received.body])
      }
    },
  },
  {
    name: 'letters: what waits, is gone or belongs to another handler is not edited',
    needs: ['letters'],
    async run({ store }) {
      await bury(store, 'm1', 'm2')
      await change(store, again('m1'))
      assert.equal(await replace(store, 'm1', 'edited'), false)
      assert.equal(await replace(store, 'gone', 'edited'), false)
      const ofAnother = { handler: 'another', key: 'm2' }
      assert.equal(await store.transaction((tx) => store.letters.replace(tx, ofAnother, packed('edited'))), false)
      assert.deepEqual(
        (await store.parking.list()).map(({ message }) => textOf(message)),
        ['m1', 'm2'],
      )
    },
  },
  {
    name: 'letters: what another holds is not edited',
    needs: ['letters', 'concurrent'],
    async run({ store, rival }) {
      await bury(store, 'm1')
      const read = await store.parking.list()
      const holder = await hold(store, (tx) => store.parking.take(tx, read))
      assert.equal(await replace(rival, 'm1', 'edited'), false)
      await holder.undo()
      assert.equal(await replace(rival, 'm1', 'edited'), true)
    },
  },
]

function replace<Tx>(store: OperableStore<Tx>, key: string, text: string): Promise<boolean> {
  return store.transaction((tx) => store.letters.replace(tx, request(key), packed(text)))
}
