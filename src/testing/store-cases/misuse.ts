import assert from 'node:assert/strict'
import { isJustonceError } from '../../errors/index.ts'
import { claim, claimAndWrite, recordOf, request } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf } from '../waiting.ts'

/** What application code can do to a transaction through its native client, and what must not follow from it. */
export const misuseCases: readonly StoreCase[] = [
  {
    name: 'misuse: a commit from inside cannot make claims durable',
    needs: ['commit', 'atomic'],
    async run(context) {
      const { store, effects } = context
      const work = store.transaction(async (tx) => {
        await store.inbox.claim(tx, [request('m1'), request('m2')])
        await effects.write(tx, 'm1')
        await effects.commit?.(tx).catch(() => {})
      })
      await failureOf(work, 'a transaction that its own work has committed')
      assert.equal(await recordOf(store, request('m1')), undefined)
      assert.equal(await recordOf(store, request('m2')), undefined)
      assert.equal(await effects.count('m1'), 0)
      assert.equal(await claimAndWrite(context, store, 'm1'), undefined)
      assert.equal(await effects.count('m1'), 1)
    },
  },
  {
    name: 'misuse: a commit from inside, followed by a failure, leaves nothing either',
    needs: ['commit', 'atomic'],
    async run({ store, effects }) {
      const work = store.transaction(async (tx) => {
        await store.inbox.claim(tx, [request('m1'), request('m2')])
        await effects.write(tx, 'm1')
        await effects.commit?.(tx)
        throw new Error('after the commit')
      })
      await failureOf(work, 'a transaction that its own work has committed')
      assert.equal(await recordOf(store, request('m1')), undefined)
      assert.equal(await recordOf(store, request('m2')), undefined)
      assert.equal(await effects.count('m1'), 0)
    },
  },
  {
    name: 'misuse: however the work ends or begins a transaction, all or nothing is committed',
    needs: ['controls', 'atomic'],
    async run(context) {
      const { store, effects } = context
      for (const [index, control] of (effects.controls ?? []).entries()) {
        const key = `m${index}`
        const end = await Promise.allSettled([
          store.transaction(async (tx) => {
            await claim(store, tx, key)
            await effects.write(tx, key)
            await control.run(tx).catch(() => {})
          }),
        ])
        const committed = end[0].status === 'fulfilled'
        const record = await recordOf(store, request(key))
        assert.equal(record?.state, committed ? 'processed' : undefined, control.name)
        assert.equal(await effects.count(key), committed ? 1 : 0, control.name)
      }
      assert.equal(await claimAndWrite(context, store, 'afterwards'), undefined)
    },
  },
  {
    name: 'misuse: after a swallowed database error all or nothing is committed, and the answer says which',
    needs: ['bad-write', 'atomic'],
    async run(context) {
      const { store, effects } = context
      const [end] = await Promise.allSettled([
        store.transaction(async (tx) => {
          await claim(store, tx, 'm1')
          await effects.write(tx, 'm1')
          await failureOf(effects.writeBadly?.(tx) ?? Promise.resolve(), 'the bad statement')
        }),
      ])
      const committed = end.status === 'fulfilled'
      assert.equal((await recordOf(store, request('m1')))?.state, committed ? 'processed' : undefined)
      assert.equal(await effects.count('m1'), committed ? 1 : 0)
      assert.equal(await claimAndWrite(context, store, 'm2'), undefined)
    },
  },
  {
    name: 'misuse: if a swallowed database error has aborted the transaction, it rejects and says so',
    needs: ['bad-write', 'poisoning', 'atomic'],
    async run({ store, effects }) {
      const work = store.transaction(async (tx) => {
        await claim(store, tx, 'm1')
        await effects.write(tx, 'm1')
        await effects.writeBadly?.(tx).catch(() => {})
      })
      const error = await failureOf(work, 'a spoilt transaction')
      assert.ok(isJustonceError(error, 'COMMIT_ROLLED_BACK') || isJustonceError(error, 'TX_ABORTED'), String(error))
      assert.equal(store.classify(error), 'none')
      assert.equal(await recordOf(store, request('m1')), undefined)
      assert.equal(await effects.count('m1'), 0)
    },
  },
  {
    name: 'misuse: an error that ends the whole transaction leaves nothing behind, however long the work continues',
    needs: ['ruinous-write', 'revocable', 'atomic'],
    async run(context) {
      const { store, effects } = context
      const work = store.transaction(async (tx) => {
        await claim(store, tx, 'm1')
        const loan = store.lend(tx, { borrower: 'tag-note', onLateCall: () => {} })
        await effects.write(loan.tx, 'm1')
        await effects.writeRuinously?.(loan.tx).catch(() => {})
        await effects.write(loan.tx, 'm1').catch(() => {})
        loan.end()
      })
      await failureOf(work, 'a transaction that was ended inside')
      assert.equal(await recordOf(store, request('m1')), undefined)
      assert.equal(await effects.count('m1'), 0)
      assert.equal(await claimAndWrite(context, store, 'm1'), undefined)
    },
  },
  {
    name: 'misuse: a lost connection leaves nothing behind, is reported as unavailable or unknown, and the next one works',
    needs: ['cut', 'atomic'],
    async run(context) {
      const { store, effects } = context
      const work = store.transaction(async (tx) => {
        await claim(store, tx, 'm1')
        await effects.write(tx, 'm1')
        await effects.cut?.(tx)
        await effects.write(tx, 'm1')
      })
      const error = await failureOf(work, 'a transaction whose connection is gone')
      assert.equal(store.classify(error), 'unavailable')
      assert.equal(await recordOf(store, request('m1')), undefined)
      assert.equal(await effects.count('m1'), 0)
      assert.equal(await claimAndWrite(context, store, 'm1'), undefined)
    },
  },
  {
    name: 'misuse: a connection lost just before the commit is never reported as a success',
    needs: ['cut', 'atomic'],
    async run(context) {
      const { store, effects } = context
      const work = store.transaction(async (tx) => {
        await claim(store, tx, 'm1')
        await effects.write(tx, 'm1')
        await effects.cut?.(tx)
      })
      await failureOf(work, 'a transaction whose connection is gone')
      assert.equal(await effects.count('m1'), 0)
      assert.equal(await claimAndWrite(context, store, 'm1'), undefined)
      assert.equal(await effects.count('m1'), 1)
    },
  },
]
