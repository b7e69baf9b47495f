import assert from 'node:assert/strict'
import type { StoredParkedMessage } from '../../contracts/index.ts'
import { awkwardMessages, bytesOf, handler, parkedMessage, request } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'

const keysOf = (messages: readonly StoredParkedMessage[]) => messages.map(({ key }) => key)

export const parkingCases: readonly StoreCase[] = [
  {
    name: 'parking: everything about a parked message comes back',
    async run({ store, rival }) {
      const { delayMs, ...message } = parkedMessage('m1', {
        handler: 'count-notes',
        messageId: 'the id "of" the message',
        type: 'note.deleted',
        source: 'notes/3',
        attempts: 4,
        reason: 'HANDLER_TIMEOUT',
        step: 2,
        delayMs: 3_600_000,
      })
      await store.transaction((tx) => store.parking.park(tx, [{ ...message, delayMs }]))
      const [stored] = await rival.parking.list()
      assert.ok(stored)
      const { parkedAt, nextAt, ...rest } = stored
      assert.deepEqual({ ...rest, message: bytesOf(rest.message) }, { ...message, message: bytesOf(message.message) })
      assert.ok(Math.abs(nextAt.getTime() - parkedAt.getTime() - delayMs) < 1_000)
    },
  },
  {
    name: 'parking: messages survive byte for byte, among them what no text column takes',
    async run({ store }) {
      await store.transaction((tx) =>
        store.parking.park(
          tx,
          awkwardMessages.map((message, index) => parkedMessage(`m${index}`, { message })),
        ),
      )
      const taken = await store.transaction((tx) => store.parking.takeDue(tx, { limit: 100, handlers: [handler] }))
      for (const [index, message] of awkwardMessages.entries()) {
        const stored = taken.find(({ key }) => key === `m${index}`)
        assert.ok(stored, `m${index} is missing`)
        assert.deepEqual(bytesOf(stored.message), bytesOf(message))
      }
    },
  },
  {
    name: 'parking: the texts of errors survive',
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
    name: 'parking: a message that is parked already stays as it is, whoever parks it again',
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
    name: 'parking: long keys, ids, types and sources and an empty error history fit',
    async run({ store }) {
      const long = 'ü'.repeat(300)
      const row = { handler: 'h'.repeat(100), messageId: long, type: long, source: long, errors: '', attempts: 0 }
      await store.transaction((tx) => store.parking.park(tx, [parkedMessage(long, row)]))
      const [stored] = await store.parking.list({ handler: row.handler })
      assert.ok(stored)
      const { messageId, type, source, errors, attempts } = stored
      assert.deepEqual({ handler: stored.handler, messageId, type, source, errors, attempts }, row)
      assert.equal(stored.key, long)
    },
  },
  {
    name: 'parking: two handlers may park the same key',
    async run({ store }) {
      await store.transaction((tx) =>
        store.parking.park(tx, [parkedMessage('m1'), parkedMessage('m1', { handler: 'Tag-note' })]),
      )
      assert.equal(await store.parking.count(), 2)
    },
  },
  {
    name: 'parking: nothing to park and nothing to change is no error',
    async run({ store }) {
      await store.transaction(async (tx) => {
        await store.parking.park(tx, [])
        await store.parking.change(tx, [])
      })
      assert.equal(await store.parking.count(), 0)
    },
  },
  {
    name: 'parking: list and count heed state, handler and limit, oldest first',
    async run({ store }) {
      const rows = [
        parkedMessage('m1'),
        parkedMessage('m2', { state: 'dead' }),
        parkedMessage('m3', { handler: 'count-notes' }),
        parkedMessage('m4', { state: 'dead', handler: 'count-notes' }),
        parkedMessage('m0'),
      ]
      for (const row of rows) await store.transaction((tx) => store.parking.park(tx, [row]))
      const { parking } = store
      assert.deepEqual(keysOf(await parking.list()), ['m1', 'm2', 'm3', 'm4', 'm0'])
      assert.deepEqual(keysOf(await parking.list({ state: 'dead' })), ['m2', 'm4'])
      assert.deepEqual(keysOf(await parking.list({ state: 'waiting' })), ['m1', 'm3', 'm0'])
      assert.deepEqual(keysOf(await parking.list({ handler })), ['m1', 'm2', 'm0'])
      assert.deepEqual(keysOf(await parking.list({ handler, state: 'dead' })), ['m2'])
      assert.deepEqual(keysOf(await parking.list({ limit: 2 })), ['m1', 'm2'])
      assert.equal(await parking.count(), 5)
      assert.equal(await parking.count({ state: 'dead' }), 2)
      assert.equal(await parking.count({ handler, state: 'waiting' }), 2)
      assert.equal(await parking.count({ handler: 'no such' }), 0)
    },
  },
  {
    name: 'parking: done removes, again and dead keep, each with its count, reason and errors',
    async run({ store }) {
      const park = ['m1', 'm2', 'm3', 'm4'].map((key) => parkedMessage(key))
      await store.transaction((tx) => store.parking.park(tx, park))
      await store.transaction(async (tx) => {
        await store.parking.takeDue(tx, { limit: 10, handlers: [handler] })
        await store.parking.change(tx, [
          { ...request('m1'), kind: 'done' },
          {
            ...request('m2'),
            kind: 'again',
            attempts: 2,
            delayMs: 3_600_000,
            reason: 'HANDLER_TIMEOUT',
            errors: '[2]',
          },
          { ...request('m3'), kind: 'dead', attempts: 5, reason: 'HANDLER_FAILED', errors: '[5]' },
        ])
      })
      const rows = (await store.parking.list()).map(({ key, state, attempts, reason, errors }) => [
        key,
        state,
        attempts,
        reason,
        errors,
      ])
      assert.deepEqual(rows.sort(), [
        ['m2', 'waiting', 2, 'HANDLER_TIMEOUT', '[2]'],
        ['m3', 'dead', 5, 'HANDLER_FAILED', '[5]'],
        ['m4', 'waiting', 1, 'HANDLER_FAILED', park[3]?.errors],
      ])
      assert.deepEqual(
        keysOf(await store.transaction((tx) => store.parking.takeDue(tx, { limit: 10, handlers: [handler] }))),
        ['m4'],
      )
    },
  },
]
