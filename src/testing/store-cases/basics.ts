import assert from 'node:assert/strict'
import { JustonceError } from '../../errors/index.ts'
import { claimAndWrite, recordOf, request } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf } from '../waiting.ts'

export const basicCases: readonly StoreCase[] = [
  {
    name: 'basics: it has a name, a guarantee and at least one connection',
    async run({ store }) {
      assert.ok(store.name.length > 0)
      assert.ok(['atomic', 'isolated', 'lease'].includes(store.guarantee))
      assert.ok(store.capabilities.connections >= 1)
      assert.equal(typeof store.capabilities.revocable, 'boolean')
    },
  },
  {
    name: 'basics: ping resolves while it works and rejects when it is closed',
    async run({ store, rival }) {
      await Promise.all([store.ping(), rival.ping()])
      await rival.close()
      await failureOf(rival.ping(), 'the ping of a closed store')
    },
  },
  {
    name: 'basics: a closed store does no work, and its rival keeps working',
    async run(context) {
      const { store, rival, effects } = context
      await claimAndWrite(context, rival, 'm1')
      await rival.close()
      await failureOf(claimAndWrite(context, rival, 'm2'), 'a claim of a closed store')
      assert.equal((await recordOf(store, request('m1')))?.state, 'processed')
      assert.equal(await claimAndWrite(context, store, 'm2'), undefined)
      assert.equal(await effects.count('m2'), 1)
    },
  },
  {
    name: 'basics: closing twice is no error',
    async run({ store, rival }) {
      await rival.close()
      await rival.close()
      await store.ping()
    },
  },
  {
    name: 'basics: errors that did not come from the store are classified as none',
    async run({ store }) {
      const strange = [new Error('deadlock'), new TypeError('x is undefined'), undefined, null, 'ECONNRESET', 40001, {}]
      const ours = [
        new JustonceError('HANDLER_TIMEOUT', { message: 'It took too long.' }),
        new JustonceError('TX_CLOSED', { message: 'It was closed.' }),
        new JustonceError('TX_CONTROL', { message: 'It wanted to commit.' }),
      ]
      for (const error of [...strange, ...ours]) assert.equal(store.classify(error), 'none', String(error))
    },
  },
]
