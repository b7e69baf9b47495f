import assert from 'node:assert/strict'
import type { OrderScope, Store } from '../../contracts/index.ts'
import { countParked } from '../../operations/index.ts'
import { handler, parkedMessage } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf, hold, staysPending } from '../waiting.ts'
import { change, dead, done, park } from './parked-rows.ts'

export const parkingBlockedCases: readonly StoreCase[] = [
  {
    name: 'order: a scope is blocked while a message of it is parked; one answer each',
    async run({ store, rival }) {
      await park(store, parkedMessage('m1', { orderKey: 'b' }), parkedMessage('m2', { orderKey: 'd' }))
      await park(store, parkedMessage('m3', { orderKey: 'a', handler: 'another' }), parkedMessage('m4'))
      const asked = ['B', 'D', 'a', 'b', 'c', 'd'].map(scope)
      assert.deepEqual(await blocked(rival, ...asked), [false, false, false, true, false, true])
      await change(store, done('m1'))
      assert.deepEqual(await blocked(rival, scope('b'), scope('d')), [false, true])
      assert.deepEqual(await blocked(rival), [])
    },
  },
  {
    name: 'order: dead letters block a scope, unless it continues past dead letters',
    async run({ store }) {
      await park(store, parkedMessage('m1', { orderKey: 'a' }))
      const past = { ...scope('a'), pastDead: true }
      assert.deepEqual([await blocked(store, scope('a')), await blocked(store, past)], [[true], [true]])
      await change(store, dead('m1'))
      assert.deepEqual([await blocked(store, scope('a')), await blocked(store, past)], [[true], [false]])
    },
  },
  {
    name: 'order: a message parked by the same transaction blocks, and one that it has done does not',
    async run({ store }) {
      await park(store, parkedMessage('m1', { orderKey: 'a' }))
      await store.transaction(async (tx) => {
        await store.parking.change(tx, [done('m1')])
        await store.parking.park(tx, [parkedMessage('m2', { orderKey: 'b' })])
        assert.deepEqual(await store.parking.blocked(tx, [scope('a'), scope('b')]), [false, true])
      })
    },
  },
  {
    name: 'order: a check waits while a rival holds the scope, and then sees what the rival has parked',
    needs: ['concurrent'],
    async run({ store, rival }) {
      const holder = await hold(store, async (tx) => {
        assert.deepEqual(await store.parking.blocked(tx, [scope('a')]), [false])
        await store.parking.park(tx, [parkedMessage('m1', { orderKey: 'a' })])
      })
      const asking = blocked(rival, scope('a'), scope('b'))
      await staysPending(asking, 'the question about a scope that a rival holds')
      await holder.commit()
      assert.deepEqual(await asking, [true, false])
    },
  },
  {
    name: 'order: after a rival was rolled back, the scope is free for those that waited',
    needs: ['concurrent'],
    async run({ store, rival }) {
      const holder = await hold(store, async (tx) => {
        await store.parking.blocked(tx, [scope('a')])
        await store.parking.park(tx, [parkedMessage('m1', { orderKey: 'a' })])
      })
      const asking = blocked(rival, scope('a'))
      await staysPending(asking, 'the question about a scope that a rival holds')
      await holder.undo()
      assert.deepEqual(await asking, [false])
    },
  },
  {
    name: 'order: a held scope does not block another key, or the same key of another handler',
    needs: ['concurrent'],
    async run({ store, rival }) {
      const holder = await hold(store, (tx) => store.parking.blocked(tx, [scope('a'), scope('c')]))
      assert.deepEqual(await blocked(rival, scope('A'), scope('b'), scope('d')), [false, false, false])
      assert.deepEqual(await blocked(rival, { ...scope('a'), handler: 'another' }), [false])
      await holder.commit()
      assert.deepEqual(await blocked(rival, scope('a'), scope('c')), [false, false])
    },
  },
  {
    name: 'order: a scope that another transaction holds for too long is a conflict',
    async run({ store, rival }) {
      const holder = await hold(store, (tx) => store.parking.blocked(tx, [scope('a')]))
      const late = rival.transaction((tx) => rival.parking.blocked(tx, [scope('a')]), {
        lockTimeoutMs: 80,
        giveUpAfterMs: 80,
      })
      assert.equal(rival.classify(await failureOf(late, 'a scope that another holds')), 'conflict')
      await holder.commit()
      assert.deepEqual(await blocked(rival, scope('a')), [false])
    },
  },
  {
    name: 'order: of many transactions that check and park at the same time, one finds the scope free',
    async run({ store, rival }) {
      const askAndPark = (self: typeof store, key: string) =>
        self.transaction(async (tx) => {
          const [answer] = await self.parking.blocked(tx, [scope('a')])
          await self.parking.park(tx, [parkedMessage(key, { orderKey: 'a' })])
          return answer
        })
      const turns = Array.from({ length: 8 }, (_, index) => askAndPark(index % 2 === 0 ? store : rival, `m${index}`))
      assert.equal((await Promise.all(turns)).filter((answer) => answer === false).length, 1)
      assert.equal(await countParked(store, { orderKey: 'a' }), 8)
    },
  },
]

function scope(orderKey: string): OrderScope {
  return { handler, orderKey, pastDead: false }
}

function blocked<Tx>(store: Store<Tx>, ...scopes: readonly OrderScope[]): Promise<readonly boolean[]> {
  return store.transaction((tx) => store.parking.blocked(tx, scopes))
}
