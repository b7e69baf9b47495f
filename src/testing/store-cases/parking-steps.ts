import assert from 'node:assert/strict'
import type { NewParkedMessage } from '../../contracts/index.ts'
import { parkedMessage } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { hold } from '../waiting.ts'
import { anHour, change, dead, done, dueKeys, park, reserve, rowOf } from './parked-rows.ts'

const steps = ['step-0', 'step-1', 'step-2']

export const parkingStepCases: readonly StoreCase[] = [
  {
    name: 'parking: a later step waits for an earlier one of a handler that this process does not know',
    async run({ store }) {
      await park(
        store,
        parkedMessage('m1', { handler: 'theirs', step: 0 }),
        parkedMessage('m1', { handler: 'ours', step: 1 }),
      )
      assert.deepEqual(await dueKeys(store, { handlers: ['ours'] }), [])
    },
  },
  {
    name: 'parking: a later step is not due while an earlier one of the same message is parked, waiting or dead',
    async run({ store }) {
      const step = (key: string, number: number, changes: Partial<NewParkedMessage> = {}) =>
        parkedMessage(key, { handler: `step-${number}`, messageId: key, step: number, ...changes })
      await park(store, step('m1', 2), step('m1', 1), step('m1', 0, { delayMs: anHour }))
      await park(store, step('m2', 0, { state: 'dead' }), step('m2', 1))
      await park(store, step('m3', 1))
      const due = async () => {
        const found = await reserve(store, { handlers: steps })
        await store.parking.rebook(found, 0)
        return found.map((message) => `${message.key} ${message.handler}`).sort()
      }
      assert.deepEqual(await due(), ['m3 step-1'])
      await change(store, done('m1', { handler: 'step-0' }))
      assert.deepEqual(await due(), ['m1 step-1', 'm3 step-1'])
      await change(store, done('m1', { handler: 'step-1' }), done('m2', { handler: 'step-0' }))
      assert.deepEqual(await due(), ['m1 step-2', 'm2 step-1', 'm3 step-1'])
    },
  },
  {
    name: 'parking: a dead letter that is given a later step holds up no other handler, and keeps its place in its key',
    async run({ store }) {
      const first = { handler: 'step-0', step: 0, orderKey: 'k' }
      await park(
        store,
        parkedMessage('m1', first),
        parkedMessage('m1', { handler: 'step-1', step: 1 }),
        parkedMessage('m2', { ...first, state: 'dead' }),
        parkedMessage('m2', { handler: 'step-1', step: 1 }),
      )
      const before = await rowOf(store, 'm1', 'step-0')
      await change(store, dead('m1', { handler: 'step-0', step: 1_000_000 }))
      const after = await rowOf(store, 'm1', 'step-0')
      assert.deepEqual([after.state, after.step, after.sequence], ['dead', 1_000_000, before.sequence])
      assert.deepEqual(await dueKeys(store, { handlers: ['step-1'] }), ['m1'])
      await change(store, dead('m2', { handler: 'step-0' }))
      assert.equal((await rowOf(store, 'm2', 'step-0')).step, 0)
      assert.deepEqual(await dueKeys(store, { handlers: ['step-1'] }), ['m1'])
      await change(store, done('m1', { handler: 'step-0' }))
      assert.deepEqual(await dueKeys(store, { handlers: ['step-1'] }), ['m1'])
    },
  },
  {
    name: 'parking: the same id from another source, or of another type, is another message',
    async run({ store }) {
      await park(
        store,
        parkedMessage('a', { messageId: 'm1', source: 'notes', step: 0, state: 'dead' }),
        parkedMessage('b', { messageId: 'm1', source: 'hooks', step: 1 }),
        parkedMessage('c', { messageId: 'M1', source: 'notes', step: 1 }),
        parkedMessage('d', { messageId: 'm1', source: 'notes', type: 'note.deleted', step: 1 }),
      )
      assert.deepEqual(await dueKeys(store), ['b', 'c', 'd'])
    },
  },
  {
    name: 'parking: an independent step waits for nobody, and later ones wait for it',
    async run({ store }) {
      await park(
        store,
        parkedMessage('a', { messageId: 'm1', step: 0, state: 'dead' }),
        parkedMessage('b', { messageId: 'm1', step: 1, independent: true }),
        parkedMessage('c', { messageId: 'm2', step: 1, independent: true }),
        parkedMessage('d', { messageId: 'm2', step: 2 }),
      )
      assert.deepEqual(await dueKeys(store), ['b', 'c'])
    },
  },
  {
    name: 'parking: a later step is not due while another transaction has taken the earlier one',
    needs: ['concurrent'],
    async run({ store, rival }) {
      await park(
        store,
        parkedMessage('m1', { handler: 'step-0', step: 0 }),
        parkedMessage('m1', { handler: 'step-1', step: 1 }),
      )
      const found = await reserve(store, { handlers: steps })
      assert.deepEqual(
        found.map((row) => row.handler),
        ['step-0'],
      )
      const first = await hold(store, async (tx) => {
        assert.deepEqual(await store.parking.take(tx, found), [true])
        await store.parking.change(tx, [done('m1', { handler: 'step-0' })])
      })
      assert.deepEqual(await dueKeys(rival, { handlers: steps }), [])
      await first.commit()
      assert.deepEqual(await dueKeys(rival, { handlers: steps }), ['m1'])
    },
  },
]
