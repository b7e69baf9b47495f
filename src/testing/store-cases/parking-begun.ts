import assert from 'node:assert/strict'
import { packed, parkedMessage, present } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually, hold } from '../waiting.ts'
import { again, anHour, change, dead, done, dueKeys, keysOf, park, reserve, rowOf } from './parked-rows.ts'

export const parkingBegunCases: readonly StoreCase[] = [
  {
    name: 'reservation: it postpones the next attempt, counts none as begun, and returns the row as it is then',
    async run({ store, rival }) {
      await park(store, parkedMessage('m1'), parkedMessage('m2', { delayMs: anHour }))
      const before = await rowOf(store, 'm1')
      const reserved = await reserve(store, { forMs: 2 * anHour })
      const row = await rowOf(rival, 'm1')
      assert.deepEqual(reserved, [row])
      assert.deepEqual([row.begun, row.attempts, row.state], [0, before.attempts, 'waiting'])
      assert.ok(row.revision > before.revision)
      const putOffMs = row.nextAt.getTime() - before.nextAt.getTime()
      assert.ok(putOffMs >= 2 * anHour && putOffMs < 3 * anHour, `${putOffMs}`)
    },
  },
  {
    name: 'reservation: when it has run out, the message is due again, with no attempt begun',
    async run({ store, rival }) {
      await park(store, parkedMessage('m1'))
      const [first] = await reserve(store, { forMs: 1 })
      const second = await eventually(async () => (await reserve(rival))[0], 'a reservation running out')
      assert.deepEqual([first?.begun, second.begun], [0, 0])
      const late = await store.transaction((tx) => store.parking.take(tx, first ? [first] : []))
      assert.deepEqual(late, [false], 'the row is no longer as it was reserved')
    },
  },
  {
    name: 'reservation: an attempt that began and never ended is visible when the row is reserved again',
    async run({ store, rival }) {
      await park(store, parkedMessage('m1'), parkedMessage('m2'))
      const reserved = await reserve(store)
      const first = present(reserved[0], 'a reserved row')
      const [revision] = await store.parking.rebook([{ ...first, begun: 1 }], 1)
      assert.equal((await rowOf(rival, first.key)).revision, revision)
      const second = await eventually(async () => (await reserve(rival))[0], 'a reservation running out')
      assert.deepEqual([second.key, second.begun], [first.key, 1])
      const late = await store.transaction((tx) => store.parking.take(tx, [{ ...first, revision: revision ?? 0 }]))
      assert.deepEqual(late, [false])
    },
  },
  {
    name: 'reservation: a rebooked row can be taken by its new revision, and nobody else gets it meanwhile',
    async run({ store, rival }) {
      await park(store, parkedMessage('m1'), parkedMessage('m2'))
      const reserved = await reserve(store, { forMs: 1 })
      const revisions = await store.parking.rebook(
        reserved.map((row) => ({ ...row, begun: 1 })),
        anHour,
      )
      const now = reserved.map((row, index) => ({ ...row, revision: revisions[index] ?? 0 }))
      assert.deepEqual(await dueKeys(rival), [])
      assert.deepEqual(await store.transaction((tx) => store.parking.take(tx, now)), [true, true])
      assert.deepEqual(await store.parking.rebook(reserved, anHour), [undefined, undefined])
      assert.deepEqual([(await rowOf(rival, 'm1')).begun, (await rowOf(rival, 'm2')).begun], [1, 1])
    },
  },
  {
    name: 'reservation: after an attempt has ended, however it ended, none counts as begun',
    async run({ store }) {
      await park(store, parkedMessage('m1'), parkedMessage('m2'))
      await store.parking.rebook(
        (await reserve(store)).map((row) => ({ ...row, begun: 3 })),
        anHour,
      )
      await change(store, again('m1'), dead('m2'))
      assert.deepEqual([(await rowOf(store, 'm1')).begun, (await rowOf(store, 'm2')).begun], [0, 0])
    },
  },
  {
    name: 'reservation: a message that is given back is due at once, with the given number of attempts begun',
    async run({ store, rival }) {
      await park(store, parkedMessage('m1'), parkedMessage('m2'), parkedMessage('m3'))
      const reserved = await reserve(store)
      const given = reserved.map((row, index) => ({ ...row, begun: index }))
      assert.ok((await rival.parking.rebook(given, 0)).every((revision) => revision !== undefined))
      for (const { key, begun, revision } of given) {
        const row = await rowOf(store, key)
        assert.equal(row.begun, begun)
        assert.ok(row.revision > revision)
      }
      assert.deepEqual(await dueKeys(store), ['m1', 'm2', 'm3'])
      assert.deepEqual(await store.parking.rebook([], 0), [])
    },
  },
  {
    name: 'reservation: giving back late changes nothing',
    async run({ store, rival }) {
      await park(store, parkedMessage('again'), parkedMessage('gone'), parkedMessage('twice'))
      const reserved = await reserve(store)
      await change(rival, again('again', { delayMs: anHour }), done('gone'))
      await store.parking.rebook(
        reserved.filter(({ key }) => key === 'twice'),
        0,
      )
      await reserve(rival)
      const before = await store.parking.list()
      const late = await store.parking.rebook(reserved, 0)
      assert.deepEqual(late, [undefined, undefined, undefined])
      assert.deepEqual(await store.parking.list(), before)
      assert.deepEqual(await dueKeys(rival), [])
    },
  },
  {
    name: 'reservation: a row that another transaction holds is not rebooked, and nobody waits for it',
    needs: ['concurrent'],
    async run({ store, rival }) {
      await park(store, parkedMessage('m1'))
      const reserved = await reserve(store)
      const holder = await hold(rival, (tx) => rival.parking.take(tx, reserved))
      assert.deepEqual(await store.parking.rebook(reserved, anHour), [undefined])
      await holder.undo()
      assert.notDeepEqual(await store.parking.rebook(reserved, anHour), [undefined])
    },
  },
  {
    name: 'reservation: the bytes reserved at once are limited, but one message is always reserved',
    async run({ store, rival }) {
      const sized = (key: string, bytes: number) => parkedMessage(key, { message: packed('x'.repeat(bytes)) })
      await park(store, sized('m1', 20_000), sized('m2', 20_000), sized('m3', 20_000), sized('m4', 1))
      assert.deepEqual(keysOf(await reserve(store, { maxBytes: 60_000 })), ['m1', 'm2'])
      assert.deepEqual(keysOf(await reserve(rival, { maxBytes: 1 })), ['m3'])
      assert.deepEqual(keysOf(await reserve(rival, { maxBytes: 60_000 })), ['m4'])
    },
  },
]
