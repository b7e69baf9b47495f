import assert from 'node:assert/strict'
import { countParked } from '../../operations/index.ts'
import { awkwardMessages, bytesOf, parkedMessage } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { again, anHour, dead, done, dueKeys, reserve } from './parked-rows.ts'

export const parkingCases: readonly StoreCase[] = [
  {
    name: 'parking: every field of a parked message is returned',
    async run({ store, rival }) {
      const { delayMs, ...message } = parkedMessage('m1', {
        handler: 'count-notes',
        messageId: 'the id "of" the message',
        type: 'note.deleted',
        source: 'notes/3',
        attempts: 4,
        reason: 'HANDLER_TIMEOUT',
        shape: 'no % in #',
        step: 2,
        independent: true,
        orderKey: 'note 7',
        businessId: 'order "7"',
        delayMs: anHour,
      })
      await store.transaction((tx) => store.parking.park(tx, [{ ...message, delayMs }]))
      const [stored] = await rival.parking.list()
      assert.ok(stored)
      const { parkedAt, changedAt, nextAt, sequence, revision, begun, originalBody, redrive, released, ...rest } =
        stored
      assert.deepEqual({ ...rest, message: bytesOf(rest.message) }, { ...message, message: bytesOf(message.message) })
      assert.ok(Math.abs(nextAt.getTime() - parkedAt.getTime() - delayMs) < 1_000)
      assert.ok(Math.abs(changedAt.getTime() - parkedAt.getTime()) < 1_000)
      assert.deepEqual([begun, originalBody, redrive, released], [0, undefined, undefined, false])
      assert.deepEqual([typeof sequence, typeof revision], ['number', 'number'])
    },
  },
  {
    name: 'parking: messages are kept byte for byte, even what no text column takes',
    async run({ store }) {
      await store.transaction((tx) =>
        store.parking.park(
          tx,
          awkwardMessages.map((message, index) => parkedMessage(`m${index}`, { message })),
        ),
      )
      const found = await reserve(store, { limit: 100 })
      for (const [index, message] of awkwardMessages.entries()) {
        const stored = found.find(({ key }) => key === `m${index}`)
        assert.ok(stored, `m${index} is missing`)
        assert.deepEqual(bytesOf(stored.message), bytesOf(message))
      }
    },
  },
  {
    name: 'parking: error texts are kept exactly',
    async run({ store }) {
      const errors = JSON.stringify([
        { at: '2030-01-01T00:00:00.000Z', message: `it's "quoted", \\ slashed, % and _ and $1 and ?, 😀 and \u2400` },
        { at: '2030-01-01T00:00:01.000Z', message: 'NUL \0 and lone \ud800 as JSON writes them' },
        { at: '2030-01-01T00:00:02.000Z', message: 'long '.repeat(2_000) },
      ])
      await store.transaction((tx) => store.parking.park(tx, [parkedMessage('m1', { errors })]))
      assert.equal((await store.parking.list())[0]?.errors, errors)
    },
  },
  {
    name: 'parking: a message that is already parked stays as it is when it is parked again',
    async run({ store, rival }) {
      await store.transaction((tx) =>
        store.parking.park(tx, [parkedMessage('m1', { attempts: 3, reason: 'HANDLER_TIMEOUT' })]),
      )
      await rival.transaction((tx) =>
        rival.parking.park(tx, [parkedMessage('m1', { attempts: 1 }), parkedMessage('m2')]),
      )
      const stored = await store.parking.list()
      assert.deepEqual(stored.map(({ key, attempts, reason }) => [key, attempts, reason]).sort(), [
        ['m1', 3, 'HANDLER_TIMEOUT'],
        ['m2', 1, 'HANDLER_FAILED'],
      ])
    },
  },
  {
    name: 'parking: long keys, ids, types, sources, shapes and order keys and an empty error history fit',
    async run({ store }) {
      const long = 'ü'.repeat(300)
      const texts = { messageId: long, type: long, source: long, shape: long, orderKey: long, businessId: long }
      const row = { ...texts, handler: 'h'.repeat(100), errors: '', attempts: 0 }
      await store.transaction((tx) => store.parking.park(tx, [parkedMessage(long, row)]))
      const [stored] = await store.parking.list({ handler: row.handler })
      assert.ok(stored)
      const { messageId, type, source, shape, orderKey, businessId, errors, attempts } = stored
      assert.deepEqual(
        { handler: stored.handler, messageId, type, source, shape, orderKey, businessId, errors, attempts },
        row,
      )
      assert.equal(stored.key, long)
    },
  },
  {
    name: 'parking: two handlers may park the same key',
    async run({ store }) {
      await store.transaction((tx) =>
        store.parking.park(tx, [parkedMessage('m1'), parkedMessage('m1', { handler: 'Tag-note' })]),
      )
      assert.equal(await countParked(store), 2)
    },
  },
  {
    name: 'parking: nothing to park and nothing to change is no error',
    async run({ store }) {
      await store.transaction(async (tx) => {
        await store.parking.park(tx, [])
        await store.parking.change(tx, [])
      })
      assert.equal(await countParked(store), 0)
    },
  },
  {
    name: 'parking: done removes, again and dead keep, each with its count, reason and errors',
    async run({ store }) {
      const messages = ['m1', 'm2', 'm3', 'm4'].map((key) => parkedMessage(key))
      await store.transaction((tx) => store.parking.park(tx, messages))
      const found = await reserve(store)
      await store.transaction(async (tx) => {
        await store.parking.take(tx, found)
        await store.parking.change(tx, [
          done('m1'),
          again('m2', { attempts: 2, delayMs: anHour, reason: 'HANDLER_TIMEOUT', errors: '[2]', shape: 'two' }),
          dead('m3', { attempts: 5, reason: 'HANDLER_FAILED', errors: '[5]', shape: 'five' }),
        ])
      })
      await store.parking.rebook(
        found.filter(({ key }) => key === 'm4'),
        0,
      )
      const rows = (await store.parking.list()).map(({ key, state, attempts, reason, errors, shape }) => [
        key,
        state,
        attempts,
        reason,
        errors,
        shape,
      ])
      assert.deepEqual(rows.sort(), [
        ['m2', 'waiting', 2, 'HANDLER_TIMEOUT', '[2]', 'two'],
        ['m3', 'dead', 5, 'HANDLER_FAILED', '[5]', 'five'],
        ['m4', 'waiting', 1, 'HANDLER_FAILED', messages[3]?.errors, 'no'],
      ])
      assert.deepEqual(await dueKeys(store), ['m4'])
    },
  },
]
