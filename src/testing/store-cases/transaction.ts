import assert from 'node:assert/strict'
import { isJustonceError } from '../../errors/index.ts'
import { countParked } from '../../operations/index.ts'
import { claim, claimAndWrite, parkedMessage, recordOf, request, toQueue } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf, gate } from '../waiting.ts'

const sorry = new Error('the work failed')

/** Values that cannot be inspected, or never end. */
const unreadable: readonly unknown[] = [circular(), deep(), unreachable(), undefined]

function circular(): Error {
  const error = new Error('the cause of itself')
  error.cause = error
  return error
}

function deep(): Error {
  let error = new Error('the first cause')
  for (let depth = 0; depth < 50_000; depth++) error = new Error('a cause', { cause: error })
  return error
}

function unreachable(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

export const transactionCases: readonly StoreCase[] = [
  {
    name: 'transaction: it resolves to what the work resolves to, and has committed by then',
    async run({ store, effects }) {
      const value = { tags: 3 }
      const result = await store.transaction(async (tx) => {
        await claim(store, tx, 'm1')
        await effects.write(tx, 'm1')
        return value
      })
      assert.equal(result, value)
      assert.equal(await effects.count('m1'), 1)
    },
  },
  {
    name: 'transaction: it may do nothing at all',
    async run({ store }) {
      assert.equal(await store.transaction(async () => 'nothing'), 'nothing')
    },
  },
  {
    name: 'transaction: work that throws leaves nothing: no record, no effect, no parked or queued message',
    async run({ store, effects }) {
      const work = store.transaction(async (tx) => {
        await store.inbox.claim(tx, [request('m1'), request('m2')])
        await effects.write(tx, 'm1')
        await store.inbox.update(tx, [{ ...request('m1'), state: 'processed', result: '1' }])
        await store.parking.park(tx, [parkedMessage('m2')])
        await store.queue?.send(tx, 'notes', [toQueue('q1')])
        await store.queue?.send(tx, '>notes', [toQueue('q2')])
        throw sorry
      })
      assert.equal(await failureOf(work, 'work that throws'), sorry)
      assert.equal(await recordOf(store, request('m1')), undefined)
      assert.equal(await recordOf(store, request('m2')), undefined)
      assert.equal(await effects.count('m1'), 0)
      assert.equal(await countParked(store), 0)
      assert.deepEqual(await store.queue?.queues(), store.queue && [])
    },
  },
  {
    name: 'transaction: work that throws also rolls back its changes to what was there before',
    async run({ store, effects }) {
      await store.transaction(async (tx) => {
        await claim(store, tx, 'm1')
        await store.parking.park(tx, [parkedMessage('m1')])
      })
      const parked = await store.parking.list()
      const work = store.transaction(async (tx) => {
        await effects.write(tx, 'm1')
        assert.deepEqual(await store.parking.take(tx, parked), [true])
        await store.inbox.update(tx, [{ ...request('m1'), state: 'parked' }])
        await store.parking.change(tx, [{ ...request('m1'), kind: 'done' }])
        throw sorry
      })
      assert.equal(await failureOf(work, 'work that throws'), sorry)
      assert.equal((await recordOf(store, request('m1')))?.state, 'processed')
      assert.equal(await countParked(store), 1)
      assert.equal(await effects.count('m1'), 0)
    },
  },
  {
    name: 'transaction: work that throws before its first statement is an ordinary failure',
    async run(context) {
      const thrown = context.store.transaction(() => {
        throw sorry
      })
      assert.equal(await failureOf(thrown, 'work that throws'), sorry)
      assert.equal(await claimAndWrite(context, context.store, 'm1'), undefined)
    },
  },
  {
    name: 'transaction: failures use up no connections',
    async run(context) {
      const { store, effects } = context
      const turns = Math.min(store.capabilities.connections, 50) * 2 + 1
      for (let turn = 0; turn < turns; turn++) {
        const failing = store.transaction(async (tx) => {
          await claim(store, tx, 'm1')
          await effects.write(tx, 'm1')
          throw sorry
        })
        assert.equal(await failureOf(failing, 'work that throws'), sorry)
      }
      assert.equal(await claimAndWrite(context, store, 'm1'), undefined)
      assert.equal(await effects.count('m1'), 1)
    },
  },
  {
    name: 'transaction: whatever is thrown, it is rolled back, and nobody has to wait for what it held',
    async run({ store }) {
      for (const thrown of unreadable) {
        const work = store.transaction(async (tx) => {
          await claim(store, tx, 'm1')
          throw thrown
        })
        await work.then(
          () => assert.fail('it was undone'),
          () => {},
        )
        const next = await store.transaction((tx) => claim(store, tx, 'm1'), { lockTimeoutMs: 1_000 })
        assert.equal(next, undefined)
        await store.transaction((tx) => store.inbox.forget(tx, [request('m1')]))
      }
    },
  },
  {
    name: 'transaction: two of one store never mix: rolling one back keeps the work of the other',
    async run({ store, effects }) {
      const failingHasWritten = gate()
      const otherHasBegun = gate()
      const failing = store.transaction(async (tx) => {
        await claim(store, tx, 'm1')
        await effects.write(tx, 'm1')
        failingHasWritten.open()
        await otherHasBegun.opened
        await effects.write(tx, 'm1')
        throw sorry
      })
      await failingHasWritten.opened
      const other = store.transaction(async (tx) => {
        await claim(store, tx, 'm2')
        await effects.write(tx, 'm2')
      })
      setTimeout(otherHasBegun.open, 30)
      assert.equal(await failureOf(failing, 'work that throws'), sorry)
      await other
      assert.deepEqual([await effects.count('m1'), await effects.count('m2')], [0, 1])
      assert.equal(await recordOf(store, request('m1')), undefined)
      assert.equal((await recordOf(store, request('m2')))?.state, 'processed')
    },
  },
  {
    name: 'transaction: more of them at once than there are connections all succeed',
    async run(context) {
      const keys = Array.from({ length: 25 }, (_, index) => `m${index}`)
      await Promise.all(keys.map((key) => claimAndWrite(context, context.store, key)))
      const counts = await Promise.all(keys.map((key) => context.effects.count(key)))
      assert.deepEqual(
        counts,
        keys.map(() => 1),
      )
    },
  },
  {
    name: 'transaction: a failing commit leaves nothing behind and is reported',
    needs: ['deferred-failure', 'atomic'],
    async run(context) {
      const { store, effects } = context
      const work = store.transaction(async (tx) => {
        await claim(store, tx, 'm1')
        await effects.write(tx, 'm1')
        await effects.writeFailingAtCommit?.(tx)
      })
      const error = await failureOf(work, 'a commit that the database refuses')
      assert.ok(!isJustonceError(error, 'COMMIT_UNKNOWN'), 'the answer was a clear no')
      assert.equal(await recordOf(store, request('m1')), undefined)
      assert.equal(await effects.count('m1'), 0)
      assert.equal(await claimAndWrite(context, store, 'm1'), undefined)
    },
  },
]
