import assert from 'node:assert/strict'
import type { StoreCase } from '../store-case.ts'
import { countsOf, deliveriesOf, queueOf, send, take, takenAgain, textsOf } from './queue-steps.ts'

export const queueVisibilityCases: readonly StoreCase[] = [
  {
    name: 'queue: taken messages are hidden, and each delivery is counted',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'q1')
      const [taken] = await take(store, 1)
      assert.equal(taken?.deliveries, 1)
      assert.deepEqual(await take(rival, 1), [])
    },
  },
  {
    name: 'queue: a message hidden for 0 ms is given back at once, and its deliveries keep counting',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'q1', 'q2')
      const taken = await take(store, 10)
      await queueOf(store).hide('notes', taken.slice(0, 1), 0)
      assert.deepEqual(await countsOf(store), { ready: 1, hidden: 1 })
      const again = await take(rival, 10)
      assert.deepEqual(textsOf(again), ['q1'])
      assert.equal(again[0]?.deliveries, 2)
      assert.equal(again[0]?.ticket, taken[0]?.ticket)
    },
  },
  {
    name: 'queue: a message that was given back keeps its place',
    needs: ['queue'],
    async run({ store }) {
      await send(store, 'q1', 'q2', 'q3')
      await queueOf(store).hide('notes', await take(store, 2), 0)
      assert.deepEqual(textsOf(await take(store, 10)), ['q1', 'q2', 'q3'])
    },
  },
  {
    name: 'queue: when its visibility runs out, a message is delivered a second time',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'q1')
      await take(store, 1, 1)
      assert.deepEqual(deliveriesOf(await takenAgain(rival)), [2])
    },
  },
  {
    name: 'queue: a holder can keep a message for longer',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'q1', 'q2')
      const [first, second] = await take(store, 2, 100)
      assert.ok(first && second)
      await queueOf(store).hide('notes', [first], 600_000)
      const [again] = await takenAgain(rival)
      assert.equal(again?.ticket, second.ticket)
      assert.deepEqual(await take(rival, 10), [])
    },
  },
  {
    name: 'queue: a late holder cannot hide what another holds now',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'q1')
      const [former] = await take(store, 1, 1)
      assert.ok(former)
      const holders = await takenAgain(rival)
      await queueOf(store).hide('notes', [former], 0)
      assert.deepEqual(await take(store, 1), [])
      assert.deepEqual(await countsOf(store), { ready: 0, hidden: 1 })
      await queueOf(rival).hide('notes', holders, 0)
      await queueOf(store).hide('notes', [former], 600_000)
      assert.equal((await take(store, 1))[0]?.deliveries, 3)
    },
  },
  {
    name: 'queue: one hide changes those that are still held and leaves the others alone',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'q1', 'q2')
      const [first, second] = await take(store, 2)
      assert.ok(first && second)
      await queueOf(store).hide('notes', [first], 1)
      const [again] = await takenAgain(rival)
      assert.equal(again?.ticket, first.ticket)
      await queueOf(store).hide('notes', [first, second], 0)
      assert.deepEqual(textsOf(await take(store, 10)), ['q2'])
    },
  },
  {
    name: 'queue: a visibility need not be a whole number of milliseconds',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'q1')
      const taken = await take(store, 1, 60_000.5)
      assert.equal(taken.length, 1)
      await queueOf(store).hide('notes', taken, 3_600_000.25)
      assert.deepEqual(await take(rival, 1), [])
      assert.deepEqual(await countsOf(store), { ready: 0, hidden: 1 })
      await queueOf(store).hide('notes', taken, 0.5)
      assert.deepEqual(textsOf(await takenAgain(rival)), ['q1'])
    },
  },
]
