import assert from 'node:assert/strict'
import type { Store } from '../../contracts/index.ts'
import { awkwardMessages, bytesOf, handler, packed, parkedMessage, request, textOf } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf, hold } from '../waiting.ts'
import { again, change, listedKeys, park, rowOf } from './parked-rows.ts'
import { bury } from './redrive-steps.ts'

export const letterCases: readonly StoreCase[] = [
  {
    name: 'letters: discard removes the oldest that match, up to the limit, and returns their keys',
    async run({ store }) {
      await bury(store, 'm3', 'm1')
      await park(store, parkedMessage('waiting'), parkedMessage('other', { state: 'dead', shape: 'other' }))
      await bury(store, 'm2')
      const discarded = await store.transaction((tx) =>
        store.parking.edit(tx, { shape: 'no', state: 'dead' }, { kind: 'remove' }, 2),
      )
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
    name: 'letters: waiting rows are never discarded, and if nothing matches, nothing is discarded',
    async run({ store }) {
      await park(store, parkedMessage('m1'))
      await bury(store, 'm2')
      const discard = (keys: readonly string[]) =>
        store.transaction((tx) =>
          store.parking.edit(tx, { state: 'dead', keys: keys.map((key) => request(key)) }, { kind: 'remove' }, 10),
        )
      assert.deepEqual(await discard(['m1', 'gone']), [])
      assert.deepEqual(await discard([]), [])
      assert.deepEqual(await listedKeys(store), ['m1', 'm2'])
    },
  },
  {
    name: 'letters: an edit in a transaction that is rolled back changes nothing',
    async run({ store }) {
      await bury(store, 'm1', 'm2', 'm3', 'm4')
      const before = await store.parking.list()
      const work = store.transaction(async (tx) => {
        await store.parking.edit(tx, { key: 'm1' }, { kind: 'remove' }, 10)
        await store.parking.edit(tx, { key: 'm2' }, { kind: 'replace', message: packed('edited') }, 10)
        await store.parking.edit(tx, { key: 'm3' }, { kind: 'mark', redrive: 'r1' }, 10)
        await store.parking.edit(tx, { key: 'm4' }, { kind: 'release' }, 10)
        throw new Error('the work failed')
      })
      await failureOf(work, 'work that throws')
      assert.deepEqual(await store.parking.list(), before)
    },
  },
  {
    name: 'letters: an edited letter keeps the body that was received first, however often it is edited',
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
    async run({ store }) {
      for (const [index, message] of awkwardMessages.entries())
        await park(store, parkedMessage(`m${index}`, { state: 'dead', message }))
      for (const [index, message] of awkwardMessages.toReversed().entries())
        await store.transaction((tx) =>
          store.parking.edit(tx, { keys: [request(`m${index}`)] }, { kind: 'replace', message }, 1),
        )
      for (const [index, received] of awkwardMessages.entries()) {
        const row = await rowOf(store, `m${index}`)
        assert.deepEqual(bytesOf(row.message), bytesOf(awkwardMessages.at(-1 - index) ?? row.message))
        assert.ok(row.originalBody, `the body of m${index} is lost`)
        assert.deepEqual([...row.originalBody], [...received.body])
      }
    },
  },
  {
    name: 'letters: rows that wait, are gone or belong to another handler are not edited',
    async run({ store }) {
      await bury(store, 'm1', 'm2')
      await change(store, again('m1'))
      assert.equal(await replace(store, 'm1', 'edited'), false)
      assert.equal(await replace(store, 'gone', 'edited'), false)
      assert.equal(await replace(store, 'm2', 'edited', 'another'), false)
      assert.deepEqual(
        (await store.parking.list()).map(({ message }) => textOf(message)),
        ['m1', 'm2'],
      )
    },
  },
  {
    name: 'letters: every kind of edit skips rows that another transaction holds, without waiting',
    needs: ['concurrent'],
    async run({ store, rival }) {
      await bury(store, 'm1', 'm2')
      const read = await store.parking.list({ key: 'm1' })
      const holder = await hold(store, (tx) => store.parking.take(tx, read))
      const edits = [{ kind: 'mark', redrive: 'r1' }, { kind: 'release' }, { kind: 'remove' }] as const
      for (const edit of edits)
        assert.deepEqual(
          (await rival.transaction((tx) => rival.parking.edit(tx, {}, edit, 10))).map(({ key }) => key),
          ['m2'],
        )
      await holder.undo()
      assert.deepEqual(await listedKeys(store), ['m1'])
    },
  },
  {
    name: 'letters: a transaction sees its own marks in its next edit',
    async run({ store }) {
      await bury(store, 'm1', 'm2', 'm3')
      const mark = { kind: 'mark', redrive: 'r1' } as const
      const marked = await store.transaction(async (tx) => [
        await store.parking.edit(tx, { notInRedrives: ['r1'] }, mark, 2),
        await store.parking.edit(tx, { notInRedrives: ['r1'] }, mark, 2),
      ])
      assert.deepEqual(
        marked.map((keys) => keys.map(({ key }) => key)),
        [['m1', 'm2'], ['m3']],
      )
    },
  },
  {
    name: 'letters: a row that another transaction holds is not edited',
    needs: ['concurrent'],
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

async function replace<Tx>(store: Store<Tx>, key: string, text: string, of = handler): Promise<boolean> {
  const filter = { state: 'dead', keys: [{ handler: of, key }] } as const
  const edit = { kind: 'replace', message: packed(text) } as const
  return (await store.transaction((tx) => store.parking.edit(tx, filter, edit, 1))).length === 1
}
