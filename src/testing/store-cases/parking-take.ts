import assert from 'node:assert/strict'
import type { ParkedTicket, Store } from '../../contracts/index.ts'
import { countParked } from '../../operations/index.ts'
import { packed, parkedMessage } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { hold } from '../waiting.ts'
import { again, anHour, change, dead, done, dueKeys, keysOf, park, reserve, rowOf } from './parked-rows.ts'

export const parkingTakeCases: readonly StoreCase[] = [
  {
    name: 'parking: a row is taken only if it has not changed since it was read and is not gone, with one answer each',
    async run({ store, rival }) {
      const keys = ['again', 'dead', 'done', 'edited', 'released', 'reserved', 'same', 'too']
      const buried = new Set(['edited', 'released'])
      for (const key of keys)
        await park(
          store,
          parkedMessage(key, { state: buried.has(key) ? 'dead' : 'waiting', delayMs: key === 'reserved' ? 0 : anHour }),
        )
      const read = await store.parking.list()
      assert.deepEqual(keysOf(read), keys)
      await reserve(rival)
      await change(rival, again('again'), dead('dead'), done('done'))
      await rival.transaction(async (tx) => {
        await rival.parking.edit(tx, { key: 'edited' }, { kind: 'replace', message: packed('another') }, 1)
        await rival.parking.edit(tx, { key: 'released' }, { kind: 'release' }, 1)
      })
      assert.deepEqual(await taken(store, read), [false, false, false, false, false, false, true, true])
    },
  },
  {
    name: 'parking: a change to the same values is still a change',
    async run({ store, rival }) {
      await park(store, parkedMessage('m1'))
      const first = await rowOf(store, 'm1')
      const same = again('m1', { attempts: first.attempts, errors: first.errors, shape: first.shape })
      await change(rival, same)
      const second = await rowOf(store, 'm1')
      await change(rival, same)
      const third = await rowOf(store, 'm1')
      assert.ok(first.revision < second.revision && second.revision < third.revision)
      assert.equal(third.sequence, first.sequence)
      assert.deepEqual(await taken(store, [second]), [false])
      assert.deepEqual(await taken(store, [third]), [true])
    },
  },
  {
    name: 'parking: a message that is parked again has no revision of its earlier row',
    async run({ store, rival }) {
      for (const key of ['done', 'removed']) {
        await park(store, parkedMessage(key))
        const read = await store.parking.list({ key })
        const before = await reserve(store)
        if (key === 'done') await change(rival, done(key))
        else await rival.transaction((tx) => rival.parking.edit(tx, { key }, { kind: 'remove' }, 1))
        await park(rival, parkedMessage(key))
        assert.deepEqual(await taken(store, read), [false], 'a late reader took the row for the one it had read')
        const after = await reserve(rival)
        assert.deepEqual([keysOf(before), keysOf(after)], [[key], [key]])
        assert.deepEqual(await taken(store, before), [false], 'a late process took the row for its own')
        assert.deepEqual(await store.parking.rebook(before, 0), [undefined])
        assert.deepEqual(await taken(store, after), [true])
      }
    },
  },
  {
    name: 'parking: a given row is taken whether or not it is due or dead, and without tickets nothing is taken',
    async run({ store }) {
      await park(store, parkedMessage('later', { delayMs: anHour }), parkedMessage('dead', { state: 'dead' }))
      const { revision } = await rowOf(store, 'dead')
      assert.deepEqual(await taken(store, await store.parking.list()), [true, true])
      assert.deepEqual(await taken(store, [{ handler: 'another', key: 'dead', revision }]), [false])
      assert.deepEqual(await taken(store, []), [])
    },
  },
  {
    name: 'parking: a row that another transaction holds is neither taken nor waited for, and the others are taken',
    needs: ['concurrent'],
    async run({ store, rival }) {
      await park(store, parkedMessage('m1'), parkedMessage('m2'), parkedMessage('m3'))
      const read = await store.parking.list()
      const holder = await hold(store, (tx) => store.parking.take(tx, read.slice(1, 2)))
      assert.deepEqual(await taken(rival, read), [true, false, true])
      await holder.undo()
      assert.deepEqual(await taken(rival, read), [true, true, true])
    },
  },
  {
    name: 'parking: a take after the holder has changed the row finds it changed',
    needs: ['concurrent'],
    async run({ store, rival }) {
      await park(store, parkedMessage('m1'))
      const read = await store.parking.list()
      const holder = await hold(store, async (tx) => {
        await store.parking.take(tx, read)
        await store.parking.change(tx, [again('m1')])
      })
      assert.deepEqual(await taken(rival, read), [false])
      await holder.commit()
      assert.deepEqual(await taken(rival, read), [false])
      assert.deepEqual(await dueKeys(rival), ['m1'])
    },
  },
  {
    name: 'parking: a message that several take at the same time is done by one',
    async run({ store, rival, effects }) {
      await park(store, parkedMessage('m1'))
      const found = await reserve(store)
      const retry = (self: typeof store) =>
        self.transaction(async (tx) => {
          const ours = await self.parking.take(tx, found)
          for (const { key } of found.filter((_, index) => ours[index])) {
            await effects.write(tx, key)
            await self.parking.change(tx, [done(key)])
          }
        })
      await Promise.all([retry(store), retry(rival), retry(store), retry(rival)])
      assert.equal(await effects.count('m1'), 1)
      assert.equal(await countParked(store), 0)
    },
  },
]

/** Takes them and releases them again. */
function taken<Tx>(store: Store<Tx>, tickets: readonly ParkedTicket[]): Promise<readonly boolean[]> {
  return store.transaction((tx) => store.parking.take(tx, tickets))
}
