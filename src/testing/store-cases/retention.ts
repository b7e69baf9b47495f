import assert from 'node:assert/strict'
import type { RecordState } from '../../contracts/index.ts'
import { pinScheme } from '../../facts/index.ts'
import { recordOf, request, unclaimed } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { hold } from '../waiting.ts'
import { aDay, born, claimAll, daysFromNow, found, removeAll, retentionOf, verdicts } from './retention-steps.ts'

const states: readonly RecordState[] = ['discarded', 'expired', 'parked', 'processed']

/** Only records whose time has come are removed. Until then they are found, with or without their time. */
export const retentionCases: readonly StoreCase[] = [
  {
    name: 'retention: remove removes what was born before, whatever its state, and nothing else',
    needs: ['retention'],
    async run({ store, rival }) {
      const old = states.map((state) => born(state, daysFromNow(-20)))
      await claimAll(store, ...old)
      await store.transaction((tx) =>
        store.inbox.update(
          tx,
          old.map((each) => ({ ...each, state: each.key as RecordState })),
        ),
      )
      await claimAll(store, born('new', daysFromNow(-9)), born('newest', daysFromNow(0)), born('timeless', undefined))
      await retentionOf(store).raise(10 * aDay)
      assert.equal(await removeAll(rival, daysFromNow(-11)), 4)
      assert.deepEqual(await found(store, ...states, 'new', 'newest', 'timeless'), ['new', 'newest', 'timeless'])
      assert.deepEqual(verdicts(await claimAll(store, ...old)), ['too old', 'too old', 'too old', 'too old'])
      assert.equal(await removeAll(store, daysFromNow(-11)), 0)
    },
  },
  {
    name: 'retention: remove is exact within a day',
    needs: ['retention'],
    async run({ store }) {
      const moment = daysFromNow(-20)
      const at = (ms: number) => new Date(moment.getTime() + ms)
      const requests = [
        born('a', at(-aDay)),
        born('b', at(-1)),
        born('c', at(0)),
        born('d', at(1)),
        born('e', at(aDay)),
      ]
      await claimAll(store, ...requests)
      await retentionOf(store).raise(10 * aDay)
      await removeAll(store, moment)
      const kept = await found(store, 'a', 'b', 'c', 'd', 'e')
      // A store may remove larger chunks later, but never more than is due.
      assert.deepEqual(kept.slice(-3), ['c', 'd', 'e'])
      assert.ok(!kept.includes('a') || kept.includes('b'))
      await removeAll(store, at(3 * aDay))
      assert.deepEqual(await found(store, 'a', 'b', 'c', 'd', 'e'), [])
    },
  },
  {
    name: 'retention: records without a time stay, however long ago they were processed',
    needs: ['retention'],
    async run({ store }) {
      await claimAll(store, request('m1'), request('m2'))
      await retentionOf(store).raise(0)
      assert.equal(await removeAll(store, daysFromNow(30)), 0)
      assert.deepEqual(await found(store, 'm1', 'm2'), ['m1', 'm2'])
    },
  },
  {
    name: 'retention: if asked to, remove also removes records without a time, by when they were processed, but never parked ones',
    needs: ['retention'],
    async run({ store, rival }) {
      await claimAll(store, ...states.map((state) => request(state)), request('timeless'))
      await store.transaction((tx) =>
        store.inbox.update(
          tx,
          states.map((state) => ({ ...request(state), state })),
        ),
      )
      await claimAll(store, born('with a time', daysFromNow(0)))
      assert.equal(await removeAll(store, daysFromNow(-30), daysFromNow(-1)), 0)
      assert.equal(await removeAll(rival, daysFromNow(-30), daysFromNow(1)), 4)
      assert.deepEqual(await found(store, ...states, 'with a time'), ['parked', 'with a time'])
      assert.deepEqual(verdicts(await claimAll(store, request('expired'), request('parked'))), ['first', 'parked'])
    },
  },
  {
    name: 'retention: many are removed, in as many steps as it takes',
    needs: ['retention'],
    async run({ store }) {
      const many = (prefix: string, days: number) =>
        Array.from({ length: 700 }, (_, index) =>
          born(`${prefix}${String(index).padStart(4, '0')}`, daysFromNow(days - (index % 5))),
        )
      await claimAll(store, ...many('new', -1))
      await claimAll(store, ...many('old', -20))
      await retentionOf(store).raise(10 * aDay)
      const first = await retentionOf(store).remove({
        bornBefore: daysFromNow(-11),
        timelessBefore: undefined,
        budgetMs: 0,
      })
      assert.ok(first.more || first.removed === 700, `${first.removed} are gone, and it says that there are no more`)
      assert.equal(first.removed + (await removeAll(store, daysFromNow(-11))), 700)
      assert.equal((await found(store, ...many('new', -1).map(({ key }) => key))).length, 700)
    },
  },
  {
    name: 'retention: a record born long ago is found, changed and forgotten by its key alone',
    needs: ['retention'],
    async run({ store, rival }) {
      const moment = daysFromNow(-300)
      await claimAll(store, born('m1', moment), born('m2', moment), born('m3', daysFromNow(0)))
      assert.equal((await recordOf(rival, request('m1')))?.state, 'processed')
      await rival.transaction((tx) =>
        rival.inbox.update(tx, [{ ...request('m1'), state: 'expired', result: '{"so":1}' }]),
      )
      const record = await recordOf(store, request('m1'))
      assert.deepEqual([record?.state, record?.result], ['expired', '{"so":1}'])
      assert.equal(await rival.transaction((tx) => rival.inbox.forget(tx, [request('m1')])), 1)
      assert.equal(await rival.transaction((tx) => rival.inbox.forget(tx, [request('m3')])), 1)
      assert.deepEqual(await found(store, 'm1', 'm2', 'm3'), ['m2'])
      assert.deepEqual(verdicts(await claimAll(store, born('m1', moment), born('m2', moment))), ['first', 'processed'])
    },
  },
  {
    name: 'retention: a claim with a time is released by its key alone, and with its time',
    needs: ['retention'],
    async run({ store }) {
      const requests = [born('m1', daysFromNow(-300)), born('m2', daysFromNow(-2)), born('m3', daysFromNow(-2))]
      await store.transaction(async (tx) => {
        await store.inbox.claim(tx, requests)
        await store.inbox.update(tx, unclaimed(request('m1'), requests[1]!))
      })
      assert.deepEqual(await found(store, 'm1', 'm2', 'm3'), ['m3'])
    },
  },
  {
    name: 'retention: equal keys with equal times are one record, also for rivals; other handlers and keys are separate',
    needs: ['retention'],
    async run({ store, rival }) {
      const moment = daysFromNow(-5)
      const claims = await Promise.all([store, rival, store, rival].map((each) => claimAll(each, born('m1', moment))))
      assert.deepEqual(claims.flatMap(verdicts).toSorted(), ['first', 'processed', 'processed', 'processed'])
      const another = { ...born('m1', moment), handler: 'z-note' }
      assert.deepEqual(verdicts(await claimAll(store, born('m2', moment), another)), ['first', 'first'])
    },
  },
  {
    name: 'retention: a claim that waits for its rival gets the record, whatever its time',
    needs: ['retention', 'concurrent'],
    async run({ store, rival }) {
      for (const [key, moment] of [
        ['m1', daysFromNow(-300)],
        ['m2', daysFromNow(0)],
      ] as const) {
        const held = await hold(store, (tx) => store.inbox.claim(tx, [born(key, moment)]))
        const waiting = claimAll(rival, born(key, moment))
        await held.commit()
        assert.deepEqual(verdicts(await waiting), ['processed'])
      }
    },
  },
  {
    name: 'retention: preparing twice at once, and again later, is no error, and claims continue meanwhile',
    needs: ['retention'],
    async run({ store, rival }) {
      const moment = daysFromNow(3)
      await claimAll(store, born('m1', moment))
      const claiming = claimAll(rival, born('m2', moment))
      await Promise.all([store, rival, store].map((each) => retentionOf(each).prepare(14 * aDay)))
      await claiming
      await retentionOf(store).prepare(20 * aDay)
      await retentionOf(rival).prepare(0)
      const answer = await claimAll(store, born('m1', moment), born('m2', moment), born('m3', daysFromNow(19)))
      assert.deepEqual(verdicts(answer), ['processed', 'processed', 'first'])
      assert.equal(await removeAll(store, daysFromNow(-1)), 0)
    },
  },
  {
    name: 'retention: removing neither waits for an open claim nor removes its record',
    needs: ['retention', 'concurrent'],
    async run({ store, rival }) {
      await claimAll(store, born('old', daysFromNow(-20)))
      const held = await hold(store, (tx) => store.inbox.claim(tx, [born('new', daysFromNow(-1))]))
      await retentionOf(rival).raise(10 * aDay)
      await retentionOf(rival).remove({ bornBefore: daysFromNow(-11), timelessBefore: undefined, budgetMs: 100 })
      await held.commit()
      await removeAll(rival, daysFromNow(-11))
      assert.deepEqual(await found(store, 'new', 'old'), ['new'])
    },
  },
  {
    name: 'retention: a handler keeps the scheme that was pinned first, even when two pin at once',
    needs: ['retention'],
    async run({ store, rival }) {
      assert.equal(await pinScheme(store, 'tag-note', 'none'), 'none')
      assert.equal(await pinScheme(rival, 'tag-note', 'uuidv7'), 'none')
      assert.equal(await pinScheme(rival, 'Tag-note', 'uuidv7'), 'uuidv7')
      const schemes = ['none', 'uuidv7', 'ulid', 'born of mine']
      const pinned = await Promise.all(
        schemes.map((scheme, index) => pinScheme(index % 2 ? store : rival, 'raced', scheme)),
      )
      assert.equal(new Set(pinned).size, 1, `different answers: ${pinned}`)
      assert.ok(schemes.includes(pinned[0] as string))
      assert.equal(await pinScheme(store, 'raced', 'yet another'), pinned[0])
    },
  },
]
