import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { InboxRecord, JoinedStore } from '../../contracts/index.ts'
import { isJustonceError } from '../../errors/index.ts'
import { claim, recordOf, request } from '../sample-records.ts'
import type { StoreCase, StoreCaseContext } from '../store-case.ts'
import { failureOf, gate, staysPending } from '../waiting.ts'

const sorry = new Error('the work failed')

/** Inside a transaction that the application has opened and will end. */
export const withinCases: readonly StoreCase[] = [
  {
    name: 'within: record and effect commit with the transaction of the caller',
    needs: ['native-transaction'],
    async run(context) {
      const { store, effects } = context
      await callers(context, async (tx) => {
        const joined = store.within(tx)
        assert.equal(joined.tx, tx)
        assert.deepEqual([joined.name, joined.guarantee], [store.name, store.guarantee])
        await joined.savepoint(async () => {
          assert.equal(await claimWithin(joined), undefined)
          await effects.write(tx, 'm1')
        })
        await effects.write(tx, 'of the caller')
      })
      assert.equal((await recordOf(store, request('m1')))?.state, 'processed')
      assert.deepEqual([await effects.count('m1'), await effects.count('of the caller')], [1, 1])
    },
  },
  {
    name: 'within: when the caller rolls back, the record is gone as well',
    needs: ['native-transaction'],
    async run(context) {
      const { store, effects } = context
      const work = callers(context, async (tx) => {
        const joined = store.within(tx)
        await joined.savepoint(async () => {
          await claimWithin(joined)
          await joined.inbox.update(tx, [{ ...request('m1'), state: 'processed', result: '1' }])
          await effects.write(tx, 'm1')
        })
        throw sorry
      })
      assert.equal(await failureOf(work, 'work that throws'), sorry)
      assert.equal(await recordOf(store, request('m1')), undefined)
      assert.equal(await effects.count('m1'), 0)
      assert.equal(await store.transaction((tx) => claim(store, tx, 'm1')), undefined)
    },
  },
  {
    name: 'within: a second claim in the same transaction finds what the first one has kept',
    needs: ['native-transaction'],
    async run(context) {
      const { store } = context
      await callers(context, async (tx) => {
        const joined = store.within(tx)
        await joined.savepoint(async () => {
          assert.equal(await claimWithin(joined), undefined)
          await joined.inbox.update(tx, [{ ...request('m1'), state: 'processed', result: '1' }])
        })
        const again = await joined.savepoint(() => claimWithin(joined))
        assert.deepEqual([again?.state, again?.result], ['processed', '1'])
      })
      assert.equal((await recordOf(store, request('m1')))?.result, '1')
    },
  },
  {
    name: 'within: work that fails is rolled back, and the transaction of the caller continues',
    needs: ['native-transaction'],
    async run(context) {
      const { store, effects } = context
      await callers(context, async (tx) => {
        const joined = store.within(tx)
        await effects.write(tx, 'before')
        const work = joined.savepoint(async () => {
          await claimWithin(joined)
          await effects.write(tx, 'm1')
          throw sorry
        })
        assert.equal(await failureOf(work, 'work that throws'), sorry)
        await effects.write(tx, 'after')
      })
      assert.equal(await recordOf(store, request('m1')), undefined)
      const counts = await Promise.all(['before', 'm1', 'after'].map((name) => effects.count(name)))
      assert.deepEqual(counts, [1, 0, 1])
    },
  },
  {
    name: 'within: after a database error in the work the caller can still use its transaction',
    needs: ['native-transaction', 'bad-write'],
    async run(context) {
      const { store, effects } = context
      await callers(context, async (tx) => {
        const joined = store.within(tx)
        const work = joined.savepoint(async () => {
          await claimWithin(joined)
          await effects.writeBadly?.(tx)
        })
        await failureOf(work, 'a bad statement')
        await effects.write(tx, 'after')
      })
      assert.equal(await recordOf(store, request('m1')), undefined)
      assert.equal(await effects.count('after'), 1)
    },
  },
  {
    name: 'within: a savepoint resolves to what its work resolves to, and what joins inside it belongs to it',
    needs: ['native-transaction'],
    async run(context) {
      const { store, effects } = context
      await callers(context, async (tx) => {
        const joined = store.within(tx)
        const value = await joined.savepoint(async () => {
          const loan = joined.lend(tx, { borrower: 'tag-note', onLateCall: () => {} })
          await effects.write(loan.tx, 'outer')
          const inner = store.within(loan.tx).savepoint(async () => {
            await effects.write(loan.tx, 'inner')
            throw sorry
          })
          assert.equal(await failureOf(inner, 'work that throws'), sorry)
          return 'value'
        })
        assert.equal(value, 'value')
        await joined.savepoint(() => effects.write(tx, 'next'))
      })
      const counts = await Promise.all(['outer', 'inner', 'next'].map((name) => effects.count(name)))
      assert.deepEqual(counts, [1, 0, 1])
    },
  },
  {
    name: 'within: two savepoints requested at once run one after the other',
    needs: ['native-transaction'],
    async run(context) {
      const { store, effects } = context
      await callers(context, async (tx) => {
        const work = async (name: string, fails: boolean) => {
          await effects.write(tx, name)
          await nextTurn()
          if (fails) throw sorry
          await effects.write(tx, name)
        }
        const ends = await Promise.allSettled([
          store.within(tx).savepoint(() => work('first', false)),
          store.within(tx).savepoint(() => work('second', true)),
          store.within(tx).savepoint(() => work('third', false)),
        ])
        assert.deepEqual(
          ends.map(({ status }) => status),
          ['fulfilled', 'rejected', 'fulfilled'],
        )
      })
      const counts = await Promise.all(['first', 'second', 'third'].map((name) => effects.count(name)))
      assert.deepEqual(counts, [2, 0, 2])
    },
  },
  {
    name: 'within: a duplicate is detected, whether committed before or claimed in the same transaction',
    needs: ['native-transaction'],
    async run(context) {
      const { store } = context
      const fingerprint = Uint8Array.of(7, 0, 7)
      await store.transaction((tx) => store.inbox.claim(tx, [request('m0', fingerprint)]))
      await callers(context, async (tx) => {
        const joined = store.within(tx)
        const { existing } = await joined.savepoint(() => joined.inbox.claim(tx, [request('m0'), request('m1')]))
        assert.deepEqual([...(existing[0]?.fingerprint ?? [])], [...fingerprint])
        assert.equal(existing[1], undefined)
        assert.equal((await joined.savepoint(() => claimWithin(joined)))?.state, 'processed')
      })
    },
  },
  {
    name: 'within: rivals wait until the caller has decided',
    needs: ['native-transaction'],
    async run(context) {
      const { store, rival, effects } = context
      const hasClaimed = gate()
      const goOn = gate()
      const first = callers(context, async (tx) => {
        const joined = store.within(tx)
        await joined.savepoint(async () => {
          await claimWithin(joined)
          await effects.write(tx, 'm1')
        })
        hasClaimed.open()
        await goOn.opened
      })
      await hasClaimed.opened
      const second = rival.transaction((tx) => claim(rival, tx, 'm1'))
      await staysPending(second, 'the rival')
      goOn.open()
      await first
      assert.equal((await second)?.state, 'processed')
      assert.equal(await effects.count('m1'), 1)
    },
  },
  {
    name: 'within: a loan is closed at its end while the transaction of the caller goes on',
    needs: ['native-transaction', 'revocable'],
    async run(context) {
      const { store, effects } = context
      await callers(context, async (tx) => {
        const joined = store.within(tx)
        const loan = joined.lend(tx, { borrower: 'tag-note', onLateCall: () => {} })
        await joined.savepoint(() => effects.write(loan.tx, 'm1'))
        loan.end()
        const error = await failureOf(effects.write(loan.tx, 'm1 late'), 'a call after the end')
        assert.ok(isJustonceError(error, 'TX_CLOSED'), String(error))
        await effects.write(tx, 'of the caller')
      })
      const counts = await Promise.all(['m1', 'm1 late', 'of the caller'].map((name) => effects.count(name)))
      assert.deepEqual(counts, [1, 0, 1])
    },
  },
  {
    name: 'within: a caller stricter than READ COMMITTED that meets a rival gets an error that says so',
    needs: ['native-transaction', 'strict-isolation'],
    async run(context) {
      const { store, rival, effects } = context
      const work = effects.transaction?.(
        async (tx) => {
          const joined = store.within(tx)
          await effects.write(tx, 'takes the snapshot')
          await rival.transaction((other) => claim(rival, other, 'm1'))
          await joined.savepoint(() => claimWithin(joined))
        },
        { repeatableRead: true },
      )
      const error = await failureOf(work ?? Promise.resolve(), 'a claim below a stricter snapshot')
      assert.ok(isJustonceError(error, 'ISOLATION_TOO_STRICT'), String(error))
      assert.equal(store.classify(error), 'conflict')
      assert.equal(await effects.count('takes the snapshot'), 0)
    },
  },
  {
    name: 'within: a tx whose transaction has ended is refused before anything is done',
    needs: [],
    async run(context) {
      const { store } = context
      let left: JoinedStore<unknown>['tx']
      await callers(context, async (tx) => {
        left = tx
      })
      let hasBegun = false
      const join = async () => {
        await store.within(left as never).savepoint(async () => {
          hasBegun = true
        })
      }
      const error = await failureOf(join(), 'a savepoint outside of any transaction')
      const isSaid = isJustonceError(error, 'TX_NOT_OPEN') || isJustonceError(error, 'TX_CLOSED')
      // If connections end with their transactions, the error is about the missing connection.
      assert.ok(isSaid || store.classify(error) === 'unavailable', String(error))
      assert.equal(hasBegun, false)
    },
  },
]

function callers<Tx, T>({ store, effects }: StoreCaseContext<Tx>, work: (tx: Tx) => Promise<T>): Promise<T> {
  return (effects.transaction ?? store.transaction)(work)
}

async function claimWithin<Tx>(joined: JoinedStore<Tx>): Promise<InboxRecord | undefined> {
  const { existing } = await joined.inbox.claim(joined.tx, [request('m1')])
  return existing[0]
}
