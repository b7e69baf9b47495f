import assert from 'node:assert/strict'
import type { BehindOptions, NewParkedMessage, ParkedTicket, Store } from '../../contracts/index.ts'
import { packed, parkedMessage, present } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { hold } from '../waiting.ts'
import { again, anHour, change, dead, dueKeys, keysOf, park, reserve, rowOf } from './parked-rows.ts'

const ofKey = (key: string, orderKey: string | undefined, changes: Partial<NewParkedMessage> = {}) =>
  parkedMessage(key, { orderKey, ...changes })

const options: Omit<BehindOptions, 'behind'> = { limit: 10, maxBytes: 1_000_000, forMs: anHour, pastDead: false }

async function headOf<Tx>(store: Store<Tx>, key: string): Promise<ParkedTicket> {
  return present(
    (await reserve(store, { limit: 100 })).find((row) => row.key === key),
    `${key}, reserved`,
  )
}

/** The keys of the rows that follow this one. */
async function following<Tx>(store: Store<Tx>, head: ParkedTicket, changes: Partial<BehindOptions> = {}) {
  return keysOf(await store.parking.reserve({ ...options, behind: head, ...changes }))
}

export const parkingFollowCases: readonly StoreCase[] = [
  {
    name: 'following: the rows behind a reserved one of the same order key are reserved in order, up to the limit',
    async run({ store, rival }) {
      await park(store, ofKey('a1', 'a'), ofKey('a2', 'a'), ofKey('b1', 'b'), ofKey('a3', 'a'), ofKey('a4', 'a'))
      await park(store, ofKey('free', undefined), ofKey('theirs', 'a', { handler: 'theirs' }))
      const head = await headOf(store, 'a1')
      const rows = await store.parking.reserve({ ...options, behind: head, limit: 2 })
      assert.deepEqual(keysOf(rows), ['a2', 'a3'])
      assert.deepEqual(rows, [await rowOf(rival, 'a2'), await rowOf(rival, 'a3')])
      assert.ok(rows.every(({ begun, nextAt, parkedAt }) => begun === 0 && nextAt.getTime() > parkedAt.getTime()))
      assert.deepEqual(await following(rival, await rowOf(rival, 'free')), [])
      assert.deepEqual(await store.transaction((tx) => store.parking.take(tx, rows)), [true, true])
    },
  },
  {
    name: 'following: nothing is reserved behind a row that has changed since it was reserved',
    async run({ store, rival }) {
      await park(store, ofKey('a1', 'a'), ofKey('a2', 'a'))
      const head = await headOf(store, 'a1')
      await change(rival, again('a1'))
      assert.deepEqual(await following(store, head), [])
      assert.deepEqual(await dueKeys(rival), ['a1'])
    },
  },
  {
    name: 'following: the run ends before the first row that is not due yet or waits for an earlier step',
    async run({ store }) {
      await park(store, ofKey('a1', 'a'), ofKey('a2', 'a'), ofKey('a3', 'a', { delayMs: anHour }), ofKey('a4', 'a'))
      const step = ofKey('b3', 'b', { messageId: 'two steps', step: 1 })
      await park(store, ofKey('b1', 'b'), ofKey('b2', 'b'), step, ofKey('b4', 'b'))
      await park(store, parkedMessage('first', { messageId: 'two steps', handler: 'first', delayMs: anHour }))
      const heads = await reserve(store)
      const first = (key: string) =>
        present(
          heads.find((row) => row.key === key),
          key,
        )
      assert.deepEqual(await following(store, first('a1')), ['a2'])
      assert.deepEqual(await following(store, first('b1')), ['b2'])
    },
  },
  {
    name: 'following: a dead letter in between ends the run, unless its handler continues past dead letters',
    async run({ store }) {
      await park(store, ofKey('a1', 'a'), ofKey('a2', 'a'), ofKey('a3', 'a'), ofKey('a4', 'a'))
      await change(store, dead('a3'))
      const head = await headOf(store, 'a1')
      assert.deepEqual(await following(store, head), ['a2'])
      await change(store, again('a2'))
      assert.deepEqual(await following(store, head, { pastDead: true }), ['a2', 'a4'])
    },
  },
  {
    name: 'following: the run ends before a row that another transaction holds, without waiting for it',
    needs: ['concurrent'],
    async run({ store, rival }) {
      await park(store, ofKey('a1', 'a'), ofKey('a2', 'a'), ofKey('a3', 'a'), ofKey('a4', 'a'))
      const head = await headOf(store, 'a1')
      const third = await rowOf(store, 'a3')
      const holder = await hold(rival, (tx) => rival.parking.take(tx, [third]))
      assert.deepEqual(await following(store, head), ['a2'])
      await holder.undo()
    },
  },
  {
    name: 'following: the bytes reserved at once are limited',
    async run({ store }) {
      const message = packed('x'.repeat(20_000))
      await park(store, ...['a1', 'a2', 'a3', 'a4'].map((key) => ofKey(key, 'a', { message })))
      assert.deepEqual(await following(store, await headOf(store, 'a1'), { maxBytes: 60_000 }), ['a2', 'a3'])
    },
  },
]
