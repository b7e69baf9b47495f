import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import type { Loan, Store } from '../../contracts/index.ts'
import { claim } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf, hold } from '../waiting.ts'

/** What the failed calls of a borrower meant, whether or not it let the errors propagate. */
export const loanTroubleCases: readonly StoreCase[] = [
  {
    name: 'loan trouble: none while every call succeeds, whatever other errors the borrower gets',
    needs: ['revocable'],
    async run({ store, effects }) {
      await store.transaction(async (tx) => {
        const loan = await borrow(store, tx)
        await effects.write(loan.tx, 'm1')
        assert.equal(loan.end().trouble, 'none')
        await failureOf(effects.write(loan.tx, 'm1 late'), 'a call after the end')
        assert.equal(loan.end().trouble, 'none')
      })
    },
  },
  {
    name: 'loan trouble: none after a bad statement, because waiting would not help',
    needs: ['revocable', 'bad-write'],
    async run({ store, effects }) {
      const work = store.transaction(async (tx) => {
        const loan = await borrow(store, tx)
        const error = await failureOf(effects.writeBadly?.(loan.tx) ?? Promise.resolve(), 'the bad statement')
        assert.equal(loan.end().trouble, 'none')
        throw error
      })
      await failureOf(work, 'work that throws')
    },
  },
  {
    name: 'loan trouble: the error of a failed call contains none of the values passed to it',
    needs: ['revocable', 'bad-write'],
    async run({ store, effects }) {
      const secret = 'card 4000 0012 3456 7899'
      const work = store.transaction(async (tx) => {
        const loan = await borrow(store, tx)
        throw await failureOf(effects.writeBadly?.(loan.tx, secret) ?? Promise.resolve(), 'the bad statement')
      })
      const error = await failureOf(work, 'work that throws')
      // As loggers print it, with all nested details.
      const printed = `${inspect(error, { depth: 10, maxStringLength: null })} ${JSON.stringify({ ...(error as object) })}`
      assert.ok(!printed.includes('0012'), printed)
    },
  },
  {
    name: 'loan trouble: conflict if another transaction holds a row for too long, whether or not the error is swallowed',
    needs: ['revocable', 'row-locks', 'concurrent'],
    async run({ store, rival, effects }) {
      const holder = await hold(rival, async (tx) => {
        await claim(rival, tx, 'another')
        await effects.lock?.(tx, 'a row')
      })
      const sorry = new Error('of the handler')
      const work = store.transaction(
        async (tx) => {
          const loan = await borrow(store, tx)
          const error = await failureOf(
            effects.lock?.(loan.tx, 'a row') ?? Promise.resolve(),
            'a lock that another holds',
          )
          assert.equal(store.classify(error), 'conflict')
          assert.equal(loan.end().trouble, 'conflict')
          throw sorry
        },
        { lockTimeoutMs: 80 },
      )
      assert.equal(await failureOf(work, 'work that throws'), sorry)
      await holder.commit()
    },
  },
  {
    name: 'loan trouble: unavailable when the connection is gone',
    needs: ['revocable', 'cut'],
    async run({ store, effects }) {
      const work = store.transaction(async (tx) => {
        const loan = await borrow(store, tx)
        await effects.cut?.(tx)
        const error = await failureOf(effects.write(loan.tx, 'm1'), 'a call without a connection')
        assert.equal(loan.end().trouble, 'unavailable')
        throw error
      })
      await failureOf(work, 'work that throws')
      assert.equal(await effects.count('m1'), 0)
    },
  },
]

async function borrow<Tx>(store: Store<Tx>, tx: Tx): Promise<Loan<Tx>> {
  await claim(store, tx, 'm1')
  return store.lend(tx, { borrower: 'tag-note', onLateCall: () => {} })
}
