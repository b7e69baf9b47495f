import assert from 'node:assert/strict'
import { isJustonceError } from '../../errors/index.ts'
import { claimAndWrite, recordOf, request } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf } from '../waiting.ts'

const quietly = { borrower: 'tag-note', onLateCall: () => {} }

/** A borrower that tries to end the transaction of its whole batch. */
export const loanControlCases: readonly StoreCase[] = [
  {
    name: 'loan control: every way to begin, commit or roll back is refused with TX_CONTROL, and broken says so',
    needs: ['revocable', 'controls'],
    async run(context) {
      const { store, effects } = context
      for (const control of effects.controls ?? []) {
        const sorry = new Error(control.name)
        const work = store.transaction(async (tx) => {
          await store.inbox.claim(tx, [request('m1'), request('m2')])
          const loan = store.lend(tx, quietly)
          await effects.write(loan.tx, 'm1')
          const error = await failureOf(control.run(loan.tx), control.name)
          assert.ok(isJustonceError(error, 'TX_CONTROL'), `${control.name}: ${error}`)
          assert.ok(isJustonceError(loan.end().broken, 'TX_CONTROL'), `${control.name}: broken must say so`)
          throw sorry
        })
        assert.equal(await failureOf(work, control.name), sorry)
        assert.equal(await recordOf(store, request('m1')), undefined, control.name)
        assert.equal(await recordOf(store, request('m2')), undefined, control.name)
        assert.equal(await effects.count('m1'), 0, control.name)
      }
      assert.equal(await claimAndWrite(context, store, 'm1'), undefined)
      assert.equal(await effects.count('m1'), 1)
    },
  },
  {
    name: 'loan control: a helper that swallows the refusal and continues has still broken the loan',
    needs: ['revocable', 'commit'],
    async run({ store, effects }) {
      const work = store.transaction(async (tx) => {
        await store.inbox.claim(tx, [request('m1'), request('m2')])
        const loan = store.lend(tx, quietly)
        await effects.write(loan.tx, 'm1')
        await effects.commit?.(loan.tx).catch(() => {})
        await effects.write(loan.tx, 'm1').catch(() => {})
        throw loan.end().broken ?? new Error('broken says nothing')
      })
      assert.ok(isJustonceError(await failureOf(work, 'a broken loan'), 'TX_CONTROL'))
      assert.equal(await recordOf(store, request('m2')), undefined)
      assert.equal(await effects.count('m1'), 0)
    },
  },
  {
    name: 'loan control: a savepoint of the borrower is allowed',
    needs: ['revocable', 'own-savepoint'],
    async run({ store, effects }) {
      await store.transaction(async (tx) => {
        await store.inbox.claim(tx, [request('m1')])
        const loan = store.lend(tx, quietly)
        await effects.inSavepoint?.(loan.tx, () => effects.write(loan.tx, 'm1'))
        const sorry = new Error('the part failed')
        const failing = effects.inSavepoint?.(loan.tx, async () => {
          await effects.write(loan.tx, 'm1 undone')
          throw sorry
        })
        assert.equal(await failureOf(failing ?? Promise.resolve(), 'a part that throws'), sorry)
        assert.equal(loan.end().broken, undefined)
      })
      assert.deepEqual([await effects.count('m1'), await effects.count('m1 undone')], [1, 0])
    },
  },
]
