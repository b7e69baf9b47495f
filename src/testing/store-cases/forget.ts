import assert from 'node:assert/strict'
import type { ClaimAnswer, Store } from '../../contracts/index.ts'
import { claim, recordOf, request } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf } from '../waiting.ts'

export const forgetCases: readonly StoreCase[] = [
  {
    name: 'record: forget lets a message run again, and every cache in every process notices',
    async run({ store, rival }) {
      await store.transaction((tx) => store.inbox.claim(tx, [request('m1'), request('m2')]))
      // The first claim of a store may set a new epoch.
      await epochs(store, rival)
      const before = await epochs(store, rival)
      assert.equal(before[0], before[1])
      assert.deepEqual(await epochs(store, rival), before, 'the epoch must only change when records may have vanished')

      assert.equal(await forget(store, 'm1'), 1)
      const after = await epochs(store, rival)
      assert.equal(after[0], after[1])
      assert.notEqual(after[0], before[0])
      assert.equal(await rival.transaction((tx) => claim(rival, tx, 'm1')), undefined)
      assert.equal((await rival.transaction((tx) => claim(rival, tx, 'm2')))?.state, 'processed')
    },
  },
  {
    name: 'record: forget counts only the records that existed',
    async run({ store }) {
      await store.transaction((tx) => claim(store, tx, 'm1'))
      assert.equal(await store.transaction((tx) => store.inbox.forget(tx, [{ handler: 'another', key: 'm1' }])), 0)
      assert.equal(await forget(store, 'm2'), 0)
      await store.transaction((tx) => claim(store, tx, 'm3'))
      const keys = ['m2', 'm3'].map((key) => request(key))
      assert.equal(await store.transaction((tx) => store.inbox.forget(tx, keys)), 1)
      assert.equal((await recordOf(store, request('m1')))?.state, 'processed')
    },
  },
  {
    name: 'record: every forget makes an epoch that never existed before',
    async run({ store }) {
      const seen = new Set<string>()
      for (let turn = 0; turn < 4; turn++) {
        const { epoch } = await store.transaction((tx) => store.inbox.claim(tx, [request('m1')]))
        seen.add(epoch)
        await forget(store, 'm1')
      }
      assert.equal(seen.size, 4)
    },
  },
  {
    name: 'record: a parked one is not forgotten; an expired or discarded one is',
    async run({ store }) {
      const states = ['discarded', 'expired', 'parked'] as const
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
      for (const state of states) assert.equal(await forget(store, state), state === 'parked' ? 0 : 1, state)
      const left = await store.inbox.find(states.map((state) => request(state)))
      assert.deepEqual(
        left.map((record) => record?.state),
        [undefined, undefined, 'parked'],
      )
    },
  },
  {
    name: 'record: a forget whose transaction is rolled back has forgotten nothing',
    async run({ store }) {
      await store.transaction((tx) => store.inbox.claim(tx, [request('m1'), request('m2')]))
      const before = await epochs(store)
      const work = store.transaction(async (tx) => {
        assert.equal(await store.inbox.forget(tx, [request('m1')]), 1)
        throw new Error('the work failed')
      })
      await failureOf(work, 'work that throws')
      assert.equal((await recordOf(store, request('m1')))?.state, 'processed')
      assert.deepEqual(await epochs(store), before)
    },
  },
]

function forget<Tx>(store: Store<Tx>, key: string): Promise<number> {
  return store.transaction((tx) => store.inbox.forget(tx, [request(key)]))
}

function epochs<Tx>(...stores: readonly Store<Tx>[]): Promise<string[]> {
  const look = (store: Store<Tx>): Promise<ClaimAnswer> =>
    store.transaction((tx) => store.inbox.claim(tx, [request('m2')]))
  return Promise.all(stores.map(async (store) => (await look(store)).epoch))
}
