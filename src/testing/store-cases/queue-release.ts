import assert from 'node:assert/strict'
import type { StoreCase } from '../store-case.ts'
import {
  aMinute,
  countsOf,
  deliveriesOf,
  queueOf,
  remove,
  send,
  sendKeyed,
  take,
  takenAgain,
  textsOf,
} from './queue-steps.ts'

/** Releasing messages that were taken in vain: a publisher that could not send, a consumer that stops. */
export const queueReleaseCases: readonly StoreCase[] = [
  {
    name: 'queue: a released message can be taken again at once, and that delivery is not counted',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'q1', 'q2')
      const taken = await take(store, 10)
      await queueOf(store).hide('notes', taken, 0, { untaken: true })
      assert.deepEqual(await countsOf(store), { ready: 2, hidden: 0 })
      const again = await take(rival, 10)
      assert.deepEqual(textsOf(again), ['q1', 'q2'])
      assert.deepEqual(deliveriesOf(again), [1, 1])
      // Only the last take is undone, not the earlier ones.
      await queueOf(rival).hide('notes', again, 0)
      await queueOf(rival).hide('notes', await take(rival, 10), 0, { untaken: true })
      assert.deepEqual(deliveriesOf(await take(store, 10)), [2, 2])
    },
  },
  {
    name: 'queue: released messages keep their places, in whatever order they are given back',
    needs: ['queue'],
    async run({ store, rival }) {
      await sendKeyed(store, 'a1', 'a2', 'b1', 'a3', 'b2')
      const taken = await take(store, 4)
      await queueOf(store).hide('notes', taken.toReversed(), 0, { untaken: true })
      assert.deepEqual(textsOf(await take(rival, 10)), ['a1', 'a2', 'b1', 'a3', 'b2'])
    },
  },
  {
    name: 'queue: a message that was hidden for longer can still be released',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'q1')
      const taken = await take(store, 1)
      await queueOf(store).hide('notes', taken, 3_600_000)
      await queueOf(store).hide('notes', taken, 0, { untaken: true })
      assert.deepEqual(deliveriesOf(await take(rival, 1)), [1])
    },
  },
  {
    name: 'queue: a message released for later is hidden until then, with those behind it, and that delivery is not counted',
    needs: ['queue'],
    async run({ store, rival }) {
      await sendKeyed(store, 'a1', 'a2', 'b1')
      await queueOf(store).hide('notes', (await take(store, 1)).slice(0, 1), aMinute, { untaken: true })
      assert.deepEqual(await countsOf(store), { ready: 2, hidden: 1 })
      assert.deepEqual(textsOf(await take(rival, 10)), ['b1'])
      await sendKeyed(store, 'c1')
      await queueOf(store).hide('notes', await take(store, 1), 1.5, { untaken: true })
      const again = await takenAgain(rival)
      assert.deepEqual([textsOf(again), deliveriesOf(again)], [['c1'], [1]])
    },
  },
  {
    name: 'queue: a late holder cannot release what another holds now',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'q1')
      const former = await take(store, 1, 1)
      const holders = await takenAgain(rival)
      await queueOf(store).hide('notes', former, 0, { untaken: true })
      assert.deepEqual(await take(store, 1), [])
      assert.deepEqual(await countsOf(store), { ready: 0, hidden: 1 })
      // The current holder still holds it.
      await queueOf(rival).hide('notes', holders, 0)
      assert.deepEqual(deliveriesOf(await take(store, 1)), [3])
    },
  },
  {
    name: 'queue: one release gives back what is still held, and leaves alone what is gone or held by another',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'q1', 'q2', 'q3')
      const taken = await take(store, 3)
      await queueOf(store).hide('notes', taken.slice(0, 1), 1)
      assert.deepEqual(textsOf(await takenAgain(rival)), ['q1'])
      await remove(store, taken.slice(1, 2))
      await queueOf(store).hide('notes', taken, 0, { untaken: true })
      assert.deepEqual(textsOf(await take(store, 10)), ['q3'])
    },
  },
]
