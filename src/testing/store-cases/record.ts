import assert from 'node:assert/strict'
import type { ClaimAnswer, Store } from '../../contracts/index.ts'
import { claim, request } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'

export const recordCases: readonly StoreCase[] = [
  {
    name: 'record: what nobody claimed is not found',
    async run({ store }) {
      assert.equal(await store.inbox.find(request('m1')), undefined)
    },
  },
  {
    name: 'record: without a fingerprint there is none',
    async run({ store }) {
      await store.transaction((tx) => claim(store, tx, 'm1'))
      assert.equal((await store.inbox.find(request('m1')))?.fingerprint, undefined)
    },
  },
  {
    name: 'record: release gives a claim back, and only that one',
    async run({ store, rival }) {
      await store.transaction(async (tx) => {
        await store.inbox.claim(tx, [request('m1'), request('m2'), request('m3')])
        await store.inbox.release(tx, [request('m1'), request('m3')])
      })
      assert.equal(await rival.transaction((tx) => claim(rival, tx, 'm1')), undefined)
      assert.equal((await rival.transaction((tx) => claim(rival, tx, 'm2')))?.state, 'processed')
      assert.equal(await rival.transaction((tx) => claim(rival, tx, 'm3')), undefined)
    },
  },
  {
    name: 'record: a claim that was released can be claimed again in the same transaction',
    async run({ store }) {
      await store.transaction(async (tx) => {
        await claim(store, tx, 'm1')
        await store.inbox.release(tx, [request('m1')])
        assert.equal(await claim(store, tx, 'm1'), undefined)
      })
      assert.equal((await store.inbox.find(request('m1')))?.state, 'processed')
    },
  },
  {
    name: 'record: marked parked it is seen as parked, its fingerprint unchanged, by claims and by find',
    async run({ store, rival }) {
      const known = request('m1', Uint8Array.of(1, 0, 255))
      await store.transaction(async (tx) => {
        await store.inbox.claim(tx, [known])
        await store.inbox.update(tx, [{ ...request('m1'), state: 'parked' }])
      })
      const seen = await rival.transaction((tx) => claim(rival, tx, 'm1'))
      assert.equal(seen?.state, 'parked')
      assert.deepEqual([...(seen?.fingerprint ?? [])], [1, 0, 255])
      assert.equal((await rival.inbox.find(request('m1')))?.state, 'parked')
    },
  },
  {
    name: 'record: a parked one that succeeds later becomes processed, with its result',
    async run({ store, rival }) {
      const change = (state: 'parked' | 'processed', result?: string) =>
        store.transaction((tx) => store.inbox.update(tx, [{ ...request('m1'), state, result }]))
      await store.transaction((tx) => claim(store, tx, 'm1'))
      await change('parked')
      await change('processed', '{"tags":3}')
      const seen = await rival.transaction((tx) => claim(rival, tx, 'm1'))
      assert.equal(seen?.state, 'processed')
      assert.equal(seen?.result, '{"tags":3}')
    },
  },
  {
    name: 'record: one update changes many, each in its own way, and no others',
    async run({ store }) {
      const text = JSON.stringify({ quote: `'"\\%_`, emoji: '😀', nul: '\0', lone: '\ud800', big: 'x'.repeat(10_000) })
      await store.transaction(async (tx) => {
        await store.inbox.claim(tx, [request('m1'), request('m2'), request('m3'), request('m4')])
        await store.inbox.update(tx, [
          { ...request('m1'), state: 'processed', result: text },
          { ...request('m2'), state: 'parked' },
          { ...request('m3'), state: 'processed', result: 'null' },
        ])
      })
      const found = await Promise.all(['m1', 'm2', 'm3', 'm4'].map((key) => store.inbox.find(request(key))))
      assert.deepEqual(
        found.map((record) => [record?.state, record?.result]),
        [
          ['processed', text],
          ['parked', undefined],
          ['processed', 'null'],
          ['processed', undefined],
        ],
      )
    },
  },
  {
    name: 'record: an update does not bring a record into being',
    async run({ store }) {
      await store.transaction((tx) => store.inbox.update(tx, [{ ...request('m1'), state: 'processed' }]))
      assert.equal(await store.inbox.find(request('m1')), undefined)
    },
  },
  {
    name: 'record: nothing to release and nothing to update is no error',
    async run({ store }) {
      await store.transaction(async (tx) => {
        await claim(store, tx, 'm1')
        await store.inbox.release(tx, [])
        await store.inbox.update(tx, [])
      })
      assert.equal((await store.inbox.find(request('m1')))?.state, 'processed')
    },
  },
  {
    name: 'record: forget lets it run again and tells every cache, in every process',
    async run({ store, rival }) {
      await store.transaction((tx) => store.inbox.claim(tx, [request('m1'), request('m2')]))
      const before = await epochs(store, rival)
      assert.equal(before[0], before[1])
      assert.deepEqual(await epochs(store, rival), before, 'the epoch must only change when records may have vanished')

      assert.equal(await store.inbox.forget(request('m1')), true)
      const after = await epochs(store, rival)
      assert.equal(after[0], after[1])
      assert.notEqual(after[0], before[0])
      assert.equal(await rival.transaction((tx) => claim(rival, tx, 'm1')), undefined)
      assert.equal((await rival.transaction((tx) => claim(rival, tx, 'm2')))?.state, 'processed')
    },
  },
  {
    name: 'record: to forget what is not there resolves to false',
    async run({ store }) {
      await store.transaction((tx) => claim(store, tx, 'm1'))
      assert.equal(await store.inbox.forget({ handler: 'another', key: 'm1' }), false)
      assert.equal(await store.inbox.forget(request('m2')), false)
      assert.equal((await store.inbox.find(request('m1')))?.state, 'processed')
    },
  },
  {
    name: 'record: every forget brings an epoch that was never there before',
    async run({ store }) {
      const seen = new Set<string>()
      for (let turn = 0; turn < 4; turn++) {
        const { epoch } = await store.transaction((tx) => store.inbox.claim(tx, [request('m1')]))
        seen.add(epoch)
        await store.inbox.forget(request('m1'))
      }
      assert.equal(seen.size, 4)
    },
  },
]

function epochs<Tx>(...stores: readonly Store<Tx>[]): Promise<string[]> {
  const look = (store: Store<Tx>): Promise<ClaimAnswer> =>
    store.transaction((tx) => store.inbox.claim(tx, [request('m2')]))
  return Promise.all(stores.map(async (store) => (await look(store)).epoch))
}
