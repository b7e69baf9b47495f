import assert from 'node:assert/strict'
import type { RecordState } from '../../contracts/index.ts'
import { claim, recordOf, request, unclaimed } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'

export const recordCases: readonly StoreCase[] = [
  {
    name: 'record: what was never claimed is not found',
    async run({ store }) {
      assert.equal(await recordOf(store, request('m1')), undefined)
    },
  },
  {
    name: 'record: a claim without a fingerprint stores none',
    async run({ store }) {
      await store.transaction((tx) => claim(store, tx, 'm1'))
      assert.equal((await recordOf(store, request('m1')))?.fingerprint, undefined)
    },
  },
  {
    name: 'record: release gives a claim back, and only that one',
    async run({ store, rival }) {
      await store.transaction(async (tx) => {
        await store.inbox.claim(tx, [request('m1'), request('m2'), request('m3')])
        await store.inbox.update(tx, unclaimed(request('m1'), request('m3')))
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
        await store.inbox.update(tx, unclaimed(request('m1')))
        assert.equal(await claim(store, tx, 'm1'), undefined)
      })
      assert.equal((await recordOf(store, request('m1')))?.state, 'processed')
    },
  },
  {
    name: 'record: one that is marked as parked is seen as parked by claims and by find, with its fingerprint unchanged',
    async run({ store, rival }) {
      const known = request('m1', Uint8Array.of(1, 0, 255))
      await store.transaction(async (tx) => {
        await store.inbox.claim(tx, [known])
        await store.inbox.update(tx, [{ ...request('m1'), state: 'parked' }])
      })
      const seen = await rival.transaction((tx) => claim(rival, tx, 'm1'))
      assert.equal(seen?.state, 'parked')
      assert.deepEqual([...(seen?.fingerprint ?? [])], [1, 0, 255])
      assert.equal((await recordOf(rival, request('m1')))?.state, 'parked')
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
    name: 'record: an update without a result removes the one that was there',
    async run({ store }) {
      const change = (result?: string) =>
        store.transaction((tx) => store.inbox.update(tx, [{ ...request('m1'), state: 'processed', result }]))
      await store.transaction((tx) => claim(store, tx, 'm1'))
      await change('1')
      assert.equal((await recordOf(store, request('m1')))?.result, '1')
      await change()
      assert.equal((await recordOf(store, request('m1')))?.result, undefined)
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
      const found = await Promise.all(['m1', 'm2', 'm3', 'm4'].map((key) => recordOf(store, request(key))))
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
    name: 'record: an update does not create a record',
    async run({ store }) {
      await store.transaction((tx) => store.inbox.update(tx, [{ ...request('m1'), state: 'processed' }]))
      assert.equal(await recordOf(store, request('m1')), undefined)
    },
  },
  {
    name: 'record: updating nothing is no error',
    async run({ store }) {
      await store.transaction(async (tx) => {
        await claim(store, tx, 'm1')
        await store.inbox.update(tx, [])
      })
      assert.equal((await recordOf(store, request('m1')))?.state, 'processed')
    },
  },
  {
    name: 'record: every state is returned, by claim and by find',
    async run({ store, rival }) {
      const states: readonly RecordState[] = ['discarded', 'expired', 'parked', 'processed']
      await store.transaction(async (tx) => {
        await store.inbox.claim(
          tx,
          states.map((state) => request(state)),
        )
        await store.inbox.update(
          tx,
          states.map((state) => ({ ...request(state), state })),
        )
      })
      const { existing } = await rival.transaction((tx) =>
        rival.inbox.claim(
          tx,
          states.map((state) => request(state)),
        ),
      )
      assert.deepEqual(
        existing.map((record) => record?.state),
        states,
      )
      for (const state of states) assert.equal((await recordOf(store, request(state)))?.state, state)
    },
  },
  {
    name: 'record: find gives one answer per key, in order, even where there is no record',
    async run({ store, rival }) {
      const known = ['b', 'd', 'e'].map((key) => request(key, new TextEncoder().encode(key)))
      await store.transaction(async (tx) => {
        await store.inbox.claim(tx, known)
        await store.inbox.update(tx, [{ ...request('d'), state: 'parked' }])
      })
      const asked = ['e', 'a', 'd', 'b', 'B', 'e'].map((key) => request(key))
      const found = await rival.inbox.find([...asked, { handler: 'another', key: 'b' }])
      assert.deepEqual(
        found.map((record) => record && [new TextDecoder().decode(record.fingerprint), record.state]),
        [['e', 'processed'], undefined, ['d', 'parked'], ['b', 'processed'], undefined, ['e', 'processed'], undefined],
      )
      assert.deepEqual(await rival.inbox.find([]), [])
    },
  },
]
