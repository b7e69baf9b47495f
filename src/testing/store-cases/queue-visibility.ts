import assert from 'node:assert/strict'
import type { QueuedMessage, Store } from '../../contracts/index.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually, gate } from '../waiting.ts'
import { queueOf, send, take, textsOf } from './queue-steps.ts'

export const queueVisibilityCases: readonly StoreCase[] = [
  {
    name: 'queue: taken messages are hidden, and each taking is counted',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'q1')
      const [taken] = await take(store, 1)
      assert.equal(taken?.deliveries, 1)
      assert.deepEqual(await take(rival, 1), [])
    },
  },
  {
    name: 'queue: hidden for 0 ms a message is given back at once, its deliveries counted on',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'q1', 'q2')
      const taken = await take(store, 10)
      await queueOf(store).hide('notes', taken.slice(0, 1), 0)
      assert.deepEqual(await queueOf(store).count('notes'), { ready: 1, hidden: 1 })
      const again = await take(rival, 10)
      assert.deepEqual(textsOf(again), ['q1'])
      assert.equal(again[0]?.deliveries, 2)
      assert.equal(again[0]?.ticket, taken[0]?.ticket)
    },
  },
  {
    name: 'queue: what was given back stands in its old place',
    needs: ['queue'],
    async run({ store }) {
      await send(store, 'q1', 'q2', 'q3')
      await queueOf(store).hide('notes', await take(store, 2), 0)
      assert.deepEqual(textsOf(await take(store, 10)), ['q1', 'q2', 'q3'])
    },
  },
  {
    name: 'queue: when its visibility runs out a message is delivered again, the second time',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'q1')
      await take(store, 1, 1)
      const again = await takenAgain(rival)
      assert.equal(again.deliveries, 2)
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
      const [again] = await eventually(async () => {
        const taken = await take(rival, 10)
        return taken.length > 0 ? taken : undefined
      }, 'a visibility running out')
      assert.equal(again?.ticket, second.ticket)
      assert.deepEqual(await take(rival, 10), [])
    },
  },
  {
    name: 'queue: whoever comes back late cannot hide or give back what another holds now',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'q1')
      const [former] = await take(store, 1, 1)
      assert.ok(former)
      const holder = await takenAgain(rival)
      await queueOf(store).hide('notes', [former], 0)
      assert.deepEqual(await take(store, 1), [])
      assert.deepEqual(await queueOf(store).count('notes'), { ready: 0, hidden: 1 })
      await queueOf(rival).hide('notes', [holder], 0)
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
      const again = await takenAgain(rival)
      assert.equal(again.ticket, first.ticket)
      await queueOf(store).hide('notes', [first, second], 0)
      assert.deepEqual(textsOf(await take(store, 10)), ['q2'])
    },
  },
  {
    name: 'queue: a listener hears of what another process has sent, until it stops',
    needs: ['queue', 'queue-listen'],
    async run({ store, rival }) {
      const woken = gate()
      const stop = await queueOf(rival).listen?.('notes', woken.open)
      try {
        await send(store, 'q1')
        await queueOf(store).announce?.('notes')
        await woken.opened
        assert.deepEqual(textsOf(await take(rival, 1)), ['q1'])
      } finally {
        await stop?.()
      }
    },
  },
]

/** Takes the one message as soon as its visibility has run out. */
function takenAgain<Tx>(store: Store<Tx>): Promise<QueuedMessage> {
  return eventually(async () => (await take(store, 1))[0], 'a visibility running out')
}
