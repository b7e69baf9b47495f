import assert from 'node:assert/strict'
import type { NewParkedMessage } from '../../contracts/index.ts'
import { handler, parkedMessage } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { hold } from '../waiting.ts'
import { again, anHour, change, dead, done, dueKeys, keysOf, park, reserve } from './parked-rows.ts'

const ofKey = (key: string, orderKey: string | undefined, changes: Partial<NewParkedMessage> = {}) =>
  parkedMessage(key, { orderKey, ...changes })

export const parkingOrderCases: readonly StoreCase[] = [
  {
    name: 'order: a message of a type that is not wanted blocks what is behind it',
    async run({ store }) {
      await park(
        store,
        parkedMessage('a1', { orderKey: 'a', type: 'theirs' }),
        parkedMessage('a2', { orderKey: 'a', type: 'ours' }),
      )
      await park(
        store,
        parkedMessage('b1', { orderKey: 'b', type: 'ours' }),
        parkedMessage('b2', { orderKey: 'b', type: 'theirs' }),
      )
      const wanted = [{ handler, type: 'ours' }]
      assert.deepEqual(await dueKeys(store, { wanted }), ['b1'])
      assert.deepEqual(await dueKeys(store, { wanted, pastDead: [handler] }), ['b1'])
    },
  },
  {
    name: 'order: for one handler and order key, only the message that was parked first is due, then the next',
    async run({ store, rival }) {
      await park(store, ofKey('a1', 'a'), ofKey('a2', 'a'), ofKey('b1', 'b'))
      await park(rival, ofKey('a3', 'a'), ofKey('free', undefined), ofKey('free too', undefined))
      assert.deepEqual(await dueKeys(store), ['a1', 'b1', 'free', 'free too'])
      await change(rival, done('a1'), done('b1'))
      assert.deepEqual(await dueKeys(store), ['a2', 'free', 'free too'])
      await change(rival, done('a2'))
      assert.deepEqual(await dueKeys(store), ['a3', 'free', 'free too'])
    },
  },
  {
    name: 'order: messages parked together keep the order in which they were given',
    async run({ store }) {
      const keys = Array.from({ length: 40 }, (_, index) => `m${(index * 7) % 40}`)
      await park(store, ...keys.map((key) => ofKey(key, 'a')))
      const rows = await store.parking.list()
      assert.deepEqual(
        rows.map(({ key }) => key),
        keys,
      )
      assert.ok(rows.every(({ sequence }, index) => index === 0 || sequence > (rows[index - 1]?.sequence ?? 0)))
      assert.deepEqual(await dueKeys(store), ['m0'])
    },
  },
  {
    name: 'order: the same order key of another handler, or one spelled differently, is a different key',
    async run({ store }) {
      const names = ['a', 'A', 'a ', 'ä', 'a%']
      for (const [index, orderKey] of names.entries()) await park(store, ofKey(`m${index}`, orderKey))
      await park(store, ofKey('theirs', 'a', { handler: 'theirs' }))
      const due = await dueKeys(store, { handlers: [handler, 'theirs'] })
      assert.deepEqual(due, [...names.map((_, index) => `m${index}`), 'theirs'])
    },
  },
  {
    name: 'order: later messages wait even while the first is not due, and another attempt does not cost it its place',
    async run({ store }) {
      await park(store, ofKey('a1', 'a', { delayMs: anHour }), ofKey('a2', 'a'), ofKey('b1', 'b'), ofKey('b2', 'b'))
      await change(store, again('b1'))
      assert.deepEqual(await dueKeys(store), ['b1'])
      await reserve(store)
      assert.deepEqual(await dueKeys(store), [], 'what is behind one that is reserved')
      await change(store, again('b1', { delayMs: anHour }))
      assert.deepEqual(await dueKeys(store), [])
    },
  },
  {
    name: 'order: a dead letter blocks what is behind it, unless its handler continues past dead letters',
    async run({ store }) {
      const theirs = { handler: 'theirs' }
      await park(store, ofKey('a1', 'a', { state: 'dead' }), ofKey('a2', 'a'), ofKey('a3', 'a'))
      await park(store, ofKey('t1', 'a', { ...theirs, state: 'dead' }), ofKey('t2', 'a', theirs))
      const handlers = [handler, 'theirs']
      assert.deepEqual(await dueKeys(store, { handlers }), [])
      assert.deepEqual(await dueKeys(store, { handlers, pastDead: [handler] }), ['a2'])
      assert.deepEqual(await dueKeys(store, { handlers, pastDead: handlers }), ['a2', 't2'])
      await change(store, again('a1'))
      assert.deepEqual(await dueKeys(store, { handlers, pastDead: [handler] }), ['a1'])
      await change(store, dead('a1'), dead('a2'))
      assert.deepEqual(await dueKeys(store, { handlers, pastDead: [handler] }), ['a3'])
    },
  },
  {
    name: 'order: a long backlog behind a waiting message does not hide others',
    async run({ store }) {
      const pile = Array.from({ length: 300 }, (_, index) => ofKey(`a${index}`, 'a'))
      await park(store, ofKey('head', 'a', { delayMs: anHour }), ...pile, ofKey('b1', 'b'))
      assert.deepEqual(await dueKeys(store, { limit: 5 }), ['b1'])
    },
  },
  {
    name: 'order: later messages are not due while another transaction holds the first, and are once that has committed',
    needs: ['concurrent'],
    async run({ store, rival }) {
      await park(store, ofKey('a1', 'a'), ofKey('a2', 'a'))
      const found = await reserve(store)
      const holder = await hold(store, async (tx) => {
        assert.deepEqual(await store.parking.take(tx, found), [true])
        await store.parking.change(tx, [done('a1')])
      })
      assert.deepEqual(await dueKeys(rival), [])
      await holder.commit()
      assert.deepEqual(await dueKeys(rival), ['a2'])
    },
  },
  {
    name: 'order: a message parked while others look for work is not overtaken by later ones',
    needs: ['concurrent'],
    async run({ store, rival }) {
      // Enough rows to make the search take a while.
      await park(store, ...Array.from({ length: 30 }, (_, index) => ofKey(`free${index}`, `free${index}`)))
      const rounds = Array.from({ length: 150 }, (_, index) => `r${index}`)
      let isParking = true
      const parking = async () => {
        for (const round of rounds)
          await park(store, ofKey(`${round} first`, round, { delayMs: anHour }), ofKey(`${round} second`, round))
        isParking = false
      }
      const overtaken: string[] = []
      const looking = async () => {
        while (isParking) overtaken.push(...keysOf(await reserve(rival, { forMs: 0, limit: 1_000 })))
      }
      await Promise.all([parking(), looking(), looking()])
      assert.deepEqual(
        overtaken.filter((key) => !key.startsWith('free')),
        [],
      )
    },
  },
]
