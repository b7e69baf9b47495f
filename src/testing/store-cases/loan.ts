import assert from 'node:assert/strict'
import { isJustonceError } from '../../errors/index.ts'
import { claim, request } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf } from '../waiting.ts'

const borrower = 'tag-note'
const quietly = { borrower, onLateCall: () => {} }

export const loanCases: readonly StoreCase[] = [
  {
    name: 'loan: what is written through it commits with the transaction',
    async run({ store, effects }) {
      await store.transaction(async (tx) => {
        await claim(store, tx, 'm1')
        const loan = store.lend(tx, quietly)
        await effects.write(loan.tx, 'm1')
        assert.equal(await effects.count('m1'), 0)
        await loan.settled()
        const { openCalls, broken } = loan.end()
        assert.deepEqual([openCalls, broken], [0, undefined])
      })
      assert.equal(await effects.count('m1'), 1)
    },
  },
  {
    name: 'loan: after its end every call is refused with TX_CLOSED, names the borrower and is reported',
    needs: ['revocable'],
    async run({ store, effects }) {
      const reported: Error[] = []
      await store.transaction(async (tx) => {
        await claim(store, tx, 'm1')
        const loan = store.lend(tx, { borrower, onLateCall: (error) => reported.push(error) })
        await effects.write(loan.tx, 'm1')
        loan.end()
        for (let turn = 0; turn < 2; turn++) {
          const error = await failureOf(effects.write(loan.tx, 'm1 late'), 'a call after the end')
          assert.ok(isJustonceError(error, 'TX_CLOSED'), String(error))
          assert.ok(error.message.includes(borrower), error.message)
        }
      })
      assert.ok(reported.length >= 2, `${reported.length} late calls were reported, of 2`)
      assert.ok(reported.every((error) => isJustonceError(error, 'TX_CLOSED')))
      assert.deepEqual([await effects.count('m1'), await effects.count('m1 late')], [1, 0])
    },
  },
  {
    name: 'loan: a call that an earlier borrower left running does not write into a later loan',
    needs: ['revocable'],
    async run({ store, effects }) {
      await store.transaction(async (tx) => {
        await store.inbox.claim(tx, [request('m1'), request('m2')])
        const first = store.lend(tx, quietly)
        await effects.write(first.tx, 'm1')
        first.end()
        const second = store.lend(tx, quietly)
        await effects.write(second.tx, 'm2')
        await failureOf(effects.write(first.tx, 'm1 late'), 'a call after the end')
        await effects.write(second.tx, 'm2')
        await second.settled()
        second.end()
      })
      assert.equal(await effects.count('m1 late'), 0)
      assert.deepEqual([await effects.count('m1'), await effects.count('m2')], [1, 2])
    },
  },
  {
    name: 'loan: a write that was prepared before the end is refused after it',
    needs: ['revocable', 'prepared-write'],
    async run({ store, effects }) {
      await store.transaction(async (tx) => {
        await claim(store, tx, 'm1')
        const loan = store.lend(tx, quietly)
        const write = effects.prepareWrite?.(loan.tx)
        await write?.('m1')
        loan.end()
        const error = await failureOf(write?.('m1 late') ?? Promise.resolve(), 'a call after the end')
        assert.ok(isJustonceError(error, 'TX_CLOSED'), String(error))
      })
      assert.deepEqual([await effects.count('m1'), await effects.count('m1 late')], [1, 0])
    },
  },
  {
    name: 'loan: after the commit it is closed for good',
    needs: ['revocable'],
    async run({ store, effects }) {
      const loan = await store.transaction(async (tx) => {
        await claim(store, tx, 'm1')
        const lent = store.lend(tx, quietly)
        lent.end()
        return lent
      })
      const error = await failureOf(effects.write(loan.tx, 'm1 late'), 'a call after the commit')
      assert.ok(isJustonceError(error, 'TX_CLOSED'), String(error))
      assert.equal(await effects.count('m1 late'), 0)
    },
  },
  {
    name: 'loan: settled waits for calls that nobody awaited',
    needs: ['revocable'],
    async run({ store, effects }) {
      await store.transaction(async (tx) => {
        await claim(store, tx, 'm1')
        const loan = store.lend(tx, quietly)
        const floating = [effects.write(loan.tx, 'm1'), effects.write(loan.tx, 'm1')]
        await loan.settled()
        assert.equal(loan.end().openCalls, 0)
        await Promise.all(floating)
      })
      assert.equal(await effects.count('m1'), 2)
    },
  },
  {
    name: 'loan: it is settled unless calls are open, and its end counts those',
    needs: ['revocable', 'async-calls'],
    async run({ store, effects }) {
      await store.transaction(async (tx) => {
        await claim(store, tx, 'm1')
        const loan = store.lend(tx, quietly)
        assert.equal(loan.settled(), undefined)
        const floating = effects.write(loan.tx, 'm1')
        assert.notEqual(loan.settled(), undefined)
        assert.equal(loan.end().openCalls, 1)
        await floating
        assert.equal(loan.settled(), undefined)
        assert.equal(loan.end().openCalls, 0)
      })
    },
  },
  {
    name: 'loan: settled rejects with the failure of a call that nobody awaited',
    needs: ['revocable', 'async-calls', 'bad-write'],
    async run({ store, effects }) {
      const work = store.transaction(async (tx) => {
        await claim(store, tx, 'm1')
        const loan = store.lend(tx, quietly)
        await effects.write(loan.tx, 'm1')
        const floating = failureOf(effects.writeBadly?.(loan.tx) ?? Promise.resolve(), 'the bad statement')
        const error = await failureOf(loan.settled() ?? Promise.resolve(), 'a loan with a failed call')
        assert.equal(error, await floating)
        throw error
      })
      await failureOf(work, 'work that throws')
      assert.equal(await effects.count('m1'), 0)
    },
  },
  {
    name: 'loan: a failed call that was awaited is left to the borrower',
    needs: ['revocable', 'bad-write', 'own-savepoint'],
    async run({ store, effects }) {
      await store.transaction(async (tx) => {
        await claim(store, tx, 'm1')
        const loan = store.lend(tx, quietly)
        const attempt = effects.inSavepoint?.(loan.tx, async () => {
          await effects.write(loan.tx, 'm1 risky')
          await effects.writeBadly?.(loan.tx)
        })
        await failureOf(attempt ?? Promise.resolve(), 'the bad statement')
        await effects.write(loan.tx, 'm1')
        await loan.settled()
        assert.equal(loan.end().broken, undefined)
      })
      assert.deepEqual([await effects.count('m1'), await effects.count('m1 risky')], [1, 0])
    },
  },
]
