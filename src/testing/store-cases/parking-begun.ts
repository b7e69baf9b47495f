import assert from 'node:assert/strict'
import { parkedMessage, present } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { again, anHour, change, dead, done, dueKeys, park, reserve, rowOf } from './parked-rows.ts'

export const parkingBegunCases: readonly StoreCase[] = [
  {
    name: 'reservation: it counts an attempt as begun, puts the next off, and answers the row as it is then',
    async run({ store, rival }) {
      await park(store, parkedMessage('m1'), parkedMessage('m2', { delayMs: anHour }))
      const before = await rowOf(store, 'm1')
      const reserved = await reserve(store, { forMs: 2 * anHour })
      const row = await rowOf(rival, 'm1')
      assert.deepEqual(reserved, [row])
      assert.deepEqual([row.begun, row.attempts, row.state], [1, before.attempts, 'waiting'])
      assert.ok(row.revision > before.revision)
      const putOffMs = row.nextAt.getTime() - before.nextAt.getTime()
      assert.ok(putOffMs >= 2 * anHour && putOffMs < 3 * anHour, `${putOffMs}`)
      assert.equal((await rowOf(rival, 'm2')).begun, 0)
    },
  },
  {
    name: 'reservation: when it has run out the message is due again, and one more has begun',
    async run({ store, rival }) {
      await park(store, parkedMessage('m1'))
      const [first] = await reserve(store, { forMs: 1 })
      const second = await eventually(async () => (await reserve(rival))[0], 'a reservation running out')
      assert.deepEqual([first?.begun, second.begun], [1, 2])
      const late = await store.transaction((tx) => store.parking.take(tx, first ? [first] : []))
      assert.deepEqual(late, [false], 'the row is no longer as it was reserved')
    },
  },
  {
    name: 'reservation: an attempt that has ended leaves nothing begun, whatever its end',
    async run({ store }) {
      await park(store, parkedMessage('m1'), parkedMessage('m2'))
      await reserve(store)
      await change(store, again('m1'), dead('m2'))
      assert.deepEqual([(await rowOf(store, 'm1')).begun, (await rowOf(store, 'm2')).begun], [0, 0])
      assert.deepEqual(
        (await reserve(store)).map(({ key, begun }) => [key, begun]),
        [['m1', 1]],
      )
    },
  },
  {
    name: 'reservation: when it is forgiven the message is due at once, and one fewer has begun',
    async run({ store, rival }) {
      await park(store, parkedMessage('m1'), parkedMessage('m2'))
      await reserve(store, { forMs: 1 })
      const twice = await eventually(async () => {
        const rows = await reserve(rival)
        return rows.length > 0 ? rows : undefined
      }, 'a reservation running out')
      await rival.parking.forgive(twice.slice(0, 1))
      const row = await rowOf(store, twice[0]?.key ?? '')
      assert.equal(row.begun, present(twice[0], 'a reserved row').begun - 1)
      assert.ok(row.revision > present(twice[0], 'a reserved row').revision)
      assert.ok((await dueKeys(store)).includes(row.key))
      await store.parking.forgive([])
    },
  },
  {
    name: 'reservation: whoever forgives late changes nothing',
    async run({ store, rival }) {
      await park(store, parkedMessage('again'), parkedMessage('gone'), parkedMessage('twice'))
      const reserved = await reserve(store)
      await change(rival, again('again', { delayMs: anHour }), done('gone'))
      await store.parking.forgive(reserved.filter(({ key }) => key === 'twice'))
      await reserve(rival)
      const before = await store.parking.list()
      await store.parking.forgive(reserved)
      assert.deepEqual(await store.parking.list(), before)
      assert.deepEqual(await dueKeys(rival), [])
    },
  },
]
