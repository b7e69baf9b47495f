import assert from 'node:assert/strict'
import { countParked } from '../../operations/index.ts'
import { handler, parkedMessage } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually, hold } from '../waiting.ts'
import { again, anHour, change, dueKeys, keysOf, park, reserve, rowOf } from './parked-rows.ts'

export const parkingReserveCases: readonly StoreCase[] = [
  {
    name: 'parking: due now is reserved, due in an hour is not, dead never is',
    async run({ store, rival }) {
      await park(store, parkedMessage('later', { delayMs: anHour }))
      await park(store, parkedMessage('dead', { state: 'dead' }))
      await park(store, parkedMessage('now'))
      assert.deepEqual(keysOf(await reserve(rival)), ['now'])
    },
  },
  {
    name: 'parking: a message is reserved once it becomes due',
    async run({ store, rival }) {
      await park(store, parkedMessage('m1', { delayMs: 150 }))
      const found = await eventually(async () => {
        const keys = keysOf(await reserve(rival))
        return keys.length > 0 ? keys : undefined
      }, 'a parked message becoming due')
      assert.deepEqual(found, ['m1'])
    },
  },
  {
    name: 'parking: a delay need not be a whole number of milliseconds',
    async run({ store }) {
      await park(store, parkedMessage('m1', { delayMs: 0.3 }), parkedMessage('m2', { delayMs: 7_654_321.987 }))
      await change(store, again('m1', { delayMs: 1_234_567.891 }))
      assert.deepEqual(await dueKeys(store), [])
      assert.equal(await countParked(store, { state: 'waiting' }), 2)
    },
  },
  {
    name: 'parking: a message can be due at a time, by the clock of the database, instead of after a delay',
    async run({ store }) {
      await park(store, parkedMessage('m0', { delayMs: anHour }))
      const now = (await rowOf(store, 'm0')).parkedAt.getTime()
      const [past, future] = [new Date(now - 1), new Date(now + anHour)]
      await park(store, parkedMessage('m1', { dueAt: past, delayMs: anHour }), parkedMessage('m2', { dueAt: future }))
      assert.deepEqual((await rowOf(store, 'm2')).nextAt, future)
      assert.deepEqual(await dueKeys(store), ['m1'])
    },
  },
  {
    name: 'parking: the messages due longest come first, up to the limit',
    async run({ store }) {
      for (const key of ['m3', 'm1', 'm2']) await park(store, parkedMessage(key))
      assert.deepEqual(keysOf(await reserve(store, { limit: 2 })), ['m3', 'm1'])
      assert.deepEqual(keysOf(await reserve(store)), ['m2'])
      assert.deepEqual(await reserve(store), [])
    },
  },
  {
    name: 'parking: only messages of the given handlers are due, and others do not use up the limit',
    async run({ store }) {
      for (const [index, name] of ['theirs', 'theirs', 'ours', 'Ours', 'ours'].entries())
        await park(store, parkedMessage(`m${index}`, { handler: name }))
      assert.deepEqual(await dueKeys(store, { limit: 2, handlers: ['ours', 'another'] }), ['m2', 'm4'])
      assert.deepEqual(await dueKeys(store, { handlers: ['theirs', 'Ours'] }), ['m0', 'm1', 'm3'])
      assert.deepEqual(await dueKeys(store, { handlers: [] }), [])
    },
  },
  {
    name: 'parking: only messages of a wanted type are due for a handler, and others do not use up the limit',
    async run({ store }) {
      const types = ['theirs', 'theirs', 'ours', 'Ours', 'ours']
      for (const [index, type] of types.entries()) await park(store, parkedMessage(`m${index}`, { type }))
      await park(store, parkedMessage('m5', { handler: 'other', type: 'theirs' }))
      const ours = { handler, type: 'ours' }
      assert.deepEqual(await dueKeys(store, { limit: 2, wanted: [ours] }), ['m2', 'm4'])
      assert.deepEqual(await dueKeys(store, { wanted: [{ ...ours, handler: 'other' }] }), [])
      const all = [ours, { handler, type: 'Ours' }, { handler: 'other', type: undefined }]
      assert.deepEqual(await dueKeys(store, { wanted: all }), ['m2', 'm3', 'm4', 'm5'])
      assert.deepEqual(
        await dueKeys(store, { wanted: [ours, { handler, type: undefined }] }),
        keysOf(types.map((_, index) => ({ key: `m${index}` }))),
      )
    },
  },
  {
    name: 'parking: rivals that reserve at the same time get different messages, and together all of them',
    async run({ store, rival }) {
      const keys = Array.from({ length: 40 }, (_, index) => `m${String(index).padStart(2, '0')}`)
      await park(store, ...keys.map((key) => parkedMessage(key)))
      const mine = async (self: typeof store) => keysOf(await reserve(self, { limit: 7 }))
      const shares: string[][] = []
      while (shares.flat().length < keys.length && shares.length < 400)
        shares.push(...(await Promise.all([mine(store), mine(rival), mine(store), mine(rival)])))
      assert.deepEqual(shares.flat().sort(), keys)
    },
  },
  {
    name: 'parking: a row that an open transaction has taken is not reserved by another, which does not wait',
    needs: ['concurrent'],
    async run({ store, rival }) {
      for (const key of ['m1', 'm2', 'm3', 'm4']) await park(store, parkedMessage(key))
      const read = await store.parking.list({}, { limit: 2 })
      const holder = await hold(store, (tx) => store.parking.take(tx, read))
      assert.deepEqual(holder.value, [true, true])
      assert.deepEqual(keysOf(await reserve(rival, { limit: 1 })), ['m3'], 'what is held must not use up the limit')
      assert.deepEqual(keysOf(await reserve(rival)), ['m4'])
      await holder.undo()
      assert.deepEqual(await dueKeys(rival), ['m1', 'm2'])
    },
  },
  {
    name: 'parking: a dead letter that gets another try is waiting again',
    async run({ store }) {
      await park(store, parkedMessage('m1', { state: 'dead', attempts: 5 }))
      await change(store, again('m1', { attempts: 0 }))
      assert.deepEqual(await dueKeys(store), ['m1'])
      assert.equal(await countParked(store, { state: 'dead' }), 0)
    },
  },
]
