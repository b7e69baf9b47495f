import assert from 'node:assert/strict'
import { isJustonceError } from '../../errors/index.ts'
import { present, recordOf, request } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf } from '../waiting.ts'

const sorry = new Error('the work failed')
const quietly = { borrower: 'tag-note', onLateCall: () => {} }

/** A transaction has a single stack of savepoints, but each name belongs to its creator. */
export const loanSavepointCases: readonly StoreCase[] = [
  {
    name: 'loan savepoints: a savepoint that an earlier borrower left open cannot be rolled back to, and its effect stays',
    needs: ['revocable', 'savepoint-names'],
    async run({ store, effects }) {
      const savepoints = present(effects.savepoints, 'effects.savepoints')
      const work = store.transaction(async (tx) => {
        await store.inbox.claim(tx, [request('m1'), request('m2')])
        const first = store.lend(tx, quietly)
        await savepoints.make(first.tx, 'sp')
        await effects.write(first.tx, 'm1')
        await first.settled()
        await first.end().tidied
        const second = store.lend(tx, quietly)
        const error = await failureOf(savepoints.undo(second.tx, 'sp'), 'going back to a savepoint of another')
        assert.ok(isJustonceError(error, 'TX_CONTROL'), String(error))
        assert.ok(isJustonceError(second.end().broken, 'TX_CONTROL'), 'broken must say so')
        throw sorry
      })
      assert.equal(await failureOf(work, 'a broken loan'), sorry)
      assert.equal(await effects.count('m1'), 0)
    },
  },
  {
    name: 'loan savepoints: what is left open is released with the loan, and the next borrower can use the name',
    needs: ['revocable', 'savepoint-names'],
    async run({ store, effects }) {
      const savepoints = present(effects.savepoints, 'effects.savepoints')
      await store.transaction(async (tx) => {
        await store.inbox.claim(tx, [request('m1'), request('m2')])
        const first = store.lend(tx, quietly)
        for (const name of ['sp', 'other', 'sp']) await savepoints.make(first.tx, name)
        await effects.write(first.tx, 'm1')
        await first.end().tidied
        const second = store.lend(tx, quietly)
        await savepoints.make(second.tx, 'sp')
        await effects.write(second.tx, 'm2 undone')
        await savepoints.undo(second.tx, 'sp')
        await savepoints.release(second.tx, 'sp')
        await second.end().tidied
        const third = store.lend(tx, quietly)
        await effects.write(third.tx, 'm2')
        await third.end().tidied
      })
      assert.deepEqual(
        [await effects.count('m1'), await effects.count('m2 undone'), await effects.count('m2')],
        [1, 0, 1],
      )
    },
  },
  {
    name: 'loan savepoints: no savepoint of a loan that has ended is left in the transaction',
    needs: ['revocable', 'savepoint-names'],
    async run({ store, effects }) {
      const savepoints = present(effects.savepoints, 'effects.savepoints')
      const work = store.transaction(async (tx) => {
        await store.inbox.claim(tx, [request('m1')])
        const loan = store.lend(tx, quietly)
        for (const name of ['sp', 'other', 'sp']) await savepoints.make(loan.tx, name)
        await loan.end().tidied
        // Not through a loan, but through other code that has the connection.
        await failureOf(savepoints.undo(tx, 'sp'), 'going back to what was left')
        throw sorry
      })
      assert.equal(await failureOf(work, 'a transaction that was undone'), sorry)
      assert.equal(await recordOf(store, request('m1')), undefined)
    },
  },
  {
    name: 'loan savepoints: a borrower can neither roll back nor release the part it runs in',
    needs: ['revocable', 'savepoint-names', 'parts'],
    async run({ store, effects }) {
      const savepoints = present(effects.savepoints, 'effects.savepoints')
      for (const step of ['undo', 'release'] as const) {
        const work = store.transaction(async (tx) => {
          await store.inbox.claim(tx, [request('m1')])
          await present(store.parts, 'store.parts').next(tx)
          const loan = store.lend(tx, quietly)
          await effects.write(loan.tx, 'm1')
          const error = await failureOf(savepoints[step](loan.tx, 'justonce_part'), step)
          assert.ok(isJustonceError(error, 'TX_CONTROL'), String(error))
          throw sorry
        })
        assert.equal(await failureOf(work, step), sorry)
      }
      assert.equal(await effects.count('m1'), 0)
    },
  },
]
