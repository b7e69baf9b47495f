import assert from 'node:assert/strict'
import { claim, claimAndWrite, handler, recordOf, request } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { despiteConflicts, hold, staysPending } from '../waiting.ts'

const fingerprint = Uint8Array.of(0, 1, 2, 127, 128, 254, 255, 0)

export const claimCases: readonly StoreCase[] = [
  {
    name: 'claim: the first claim succeeds and leaves a record',
    async run({ store }) {
      const answer = await store.transaction((tx) => store.inbox.claim(tx, [request('m1', fingerprint)]))
      assert.deepEqual(answer.existing, [undefined])
      const record = await recordOf(store, request('m1'))
      assert.equal(record?.state, 'processed')
      assert.deepEqual([...(record?.fingerprint ?? [])], [...fingerprint])
      assert.equal(record?.result, undefined)
    },
  },
  {
    name: 'claim: of two racing transactions one is first, the other sees its record',
    async run(context) {
      const { store, rival, effects } = context
      const claims = await Promise.all([claimAndWrite(context, store, 'm1'), claimAndWrite(context, rival, 'm1')])
      const records = claims.filter((existing) => existing !== undefined)
      assert.equal(records.length, 1)
      assert.equal(records[0]?.state, 'processed')
      assert.equal(await effects.count('m1'), 1)
    },
  },
  {
    name: 'claim: a rival waits for the undecided one and then sees its record, fingerprint and time',
    async run({ store, rival }) {
      const first = await hold(store, (tx) => store.inbox.claim(tx, [request('m1', fingerprint)]))
      const second = rival.transaction((tx) => rival.inbox.claim(tx, [request('m1', Uint8Array.of(9))]))
      await staysPending(second, 'the rival')
      await first.commit()
      const [existing] = (await second).existing
      const found = await recordOf(store, request('m1'))
      assert.equal(existing?.state, 'processed')
      assert.deepEqual([...(existing?.fingerprint ?? [])], [...fingerprint])
      assert.deepEqual(existing?.processedAt, found?.processedAt)
    },
  },
  {
    name: 'claim: a rival that has waited for a message that failed sees it as parked',
    async run({ store, rival }) {
      const first = await hold(store, async (tx) => {
        await store.inbox.claim(tx, [request('m1', fingerprint)])
        await store.inbox.update(tx, [{ ...request('m1'), state: 'parked' }])
      })
      const second = rival.transaction((tx) => claim(rival, tx, 'm1'))
      await staysPending(second, 'the rival')
      await first.commit()
      const existing = await second
      assert.equal(existing?.state, 'parked')
      assert.deepEqual([...(existing?.fingerprint ?? [])], [...fingerprint])
    },
  },
  {
    name: 'claim: when the first transaction is rolled back, the one that waited gets the claim',
    async run(context) {
      const { store, rival, effects } = context
      const first = await hold(store, async (tx) => {
        assert.equal(await claim(store, tx, 'm1'), undefined)
        await effects.write(tx, 'm1')
      })
      const second = claimAndWrite(context, rival, 'm1')
      await staysPending(second, 'the rival')
      await first.undo()
      assert.equal(await second, undefined)
      assert.equal(await effects.count('m1'), 1)
    },
  },
  {
    name: 'claim: of many transactions that wait for one that is rolled back, exactly one gets the claim',
    needs: ['concurrent'],
    async run(context) {
      const { store, rival, effects } = context
      const first = await hold(store, (tx) => claim(store, tx, 'm1'))
      const waiting = [1, 2].map(() => despiteConflicts(rival, () => claimAndWrite(context, rival, 'm1')))
      await staysPending(Promise.race(waiting), 'a rival')
      await first.undo()
      const claims = await Promise.all(waiting)
      assert.equal(claims.filter((existing) => existing === undefined).length, 1)
      assert.equal(await effects.count('m1'), 1)
    },
  },
  {
    name: 'claim: of ten transactions for one key one is first, whichever store they come from',
    async run(context) {
      const { store, rival, effects } = context
      const stores = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? store : rival))
      const claims = await Promise.all(stores.map((each) => claimAndWrite(context, each, 'm1')))
      assert.equal(claims.filter((existing) => existing === undefined).length, 1)
      assert.equal(await effects.count('m1'), 1)
    },
  },
  {
    name: 'claim: answers come in the order of the requests, with known and new ones mixed',
    async run({ store }) {
      const known = ['b', 'd', 'e'].map((key) => request(key, new TextEncoder().encode(key)))
      await store.transaction((tx) => store.inbox.claim(tx, known))
      const keys = ['a', 'b', 'c', 'd', 'e', 'f']
      const { existing } = await store.transaction((tx) =>
        store.inbox.claim(
          tx,
          keys.map((key) => request(key)),
        ),
      )
      const seen = existing.map((record) => record && new TextDecoder().decode(record.fingerprint))
      assert.deepEqual(seen, [undefined, 'b', undefined, 'd', 'e', undefined])
    },
  },
  {
    name: 'claim: several hundred keys fit into one claim',
    async run({ store, rival }) {
      const requests = Array.from({ length: 400 }, (_, index) => request(`m${String(index).padStart(4, '0')}`))
      const odd = requests.filter((_, index) => index % 2 === 1)
      await store.transaction((tx) => store.inbox.claim(tx, odd))
      const { existing } = await rival.transaction((tx) => rival.inbox.claim(tx, requests))
      assert.deepEqual(
        existing.map((record) => record?.state),
        requests.map((_, index) => (index % 2 === 1 ? 'processed' : undefined)),
      )
    },
  },
  {
    name: 'claim: no requests, no answers, but an epoch',
    async run({ store }) {
      const answer = await store.transaction((tx) => store.inbox.claim(tx, []))
      assert.deepEqual(answer.existing, [])
      assert.equal(typeof answer.epoch, 'string')
    },
  },
  {
    name: 'claim: one transaction may claim several times',
    async run({ store }) {
      await store.transaction(async (tx) => {
        assert.equal(await claim(store, tx, 'm1'), undefined)
        assert.equal(await claim(store, tx, 'm2'), undefined)
      })
      assert.equal((await recordOf(store, request('m1')))?.state, 'processed')
      assert.equal((await recordOf(store, request('m2')))?.state, 'processed')
    },
  },
  {
    name: 'claim: the same key of another handler is a different record',
    async run({ store }) {
      const requests = ['Tag-note', handler, 'tag-note ', 'tag-note2']
        .sort()
        .map((name) => ({ ...request('m1'), handler: name }))
      const { existing } = await store.transaction((tx) => store.inbox.claim(tx, requests))
      assert.deepEqual(existing, [undefined, undefined, undefined, undefined])
    },
  },
]
