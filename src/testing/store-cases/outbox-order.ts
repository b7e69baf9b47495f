import assert from 'node:assert/strict'
import type { LeasedMessage, Outbox, Store } from '../../contracts/index.ts'
import { outboxMessage, present } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'

const aMinute = 60_000
const later = { delayMs: 3_600_000, error: 'refused', dead: false }
const idsOf = (messages: readonly LeasedMessage[]) => messages.map(({ id }) => id)

export const outboxOrderCases: readonly StoreCase[] = [
  {
    name: 'outbox order: what follows a leased one of its key is not leased by another',
    needs: ['outbox'],
    async run({ store, rival }) {
      await append(store, ['a1', 'a'], ['a2', 'a'], ['b1', 'b'], ['free', undefined], ['a3', 'a'])
      const leased = await outboxOf(store).lease(1, aMinute)
      assert.deepEqual(idsOf(leased), ['a1'])
      assert.deepEqual(idsOf(await outboxOf(rival).lease(10, aMinute)), ['b1', 'free'])
      assert.deepEqual(await outboxOf(rival).lease(10, aMinute), [])
      await outboxOf(store).markSent(leased)
      assert.deepEqual(idsOf(await outboxOf(rival).lease(10, aMinute)), ['a2', 'a3'])
    },
  },
  {
    name: 'outbox order: a row of one key is leased together, in order, between the others',
    needs: ['outbox'],
    async run({ store }) {
      await append(store, ['a1', 'a'], ['b1', 'b'], ['a2', 'a'], ['free', undefined], ['b2', 'b'], ['a3', 'a'])
      assert.deepEqual(idsOf(await outboxOf(store).lease(5, aMinute)), ['a1', 'b1', 'a2', 'free', 'b2'])
      assert.deepEqual(await outboxOf(store).lease(5, aMinute), [])
    },
  },
  {
    name: 'outbox order: a refused one holds back its key, and no other',
    needs: ['outbox'],
    async run({ store }) {
      const outbox = outboxOf(store)
      await append(store, ['a1', 'a'], ['a2', 'a'], ['b1', 'b'])
      const [first, second] = await outbox.lease(2, aMinute)
      assert.ok(first && second)
      await outbox.markFailed([first], later)
      await outbox.release([second])
      assert.deepEqual(idsOf(await outbox.lease(10, aMinute)), ['b1'])
      await append(store, ['a3', 'a'], ['c1', 'c'])
      assert.deepEqual(idsOf(await outbox.lease(10, aMinute)), ['c1'])
      assert.deepEqual(await outbox.count(), { pending: 5, dead: 0 })
    },
  },
  {
    name: 'outbox order: a dead one holds nobody up',
    needs: ['outbox'],
    async run({ store }) {
      const outbox = outboxOf(store)
      await append(store, ['a1', 'a'], ['a2', 'a'])
      await outbox.markFailed(await outbox.lease(1, aMinute), { ...later, dead: true })
      assert.deepEqual(idsOf(await outbox.lease(10, aMinute)), ['a2'])
    },
  },
  {
    name: 'outbox order: what was given back is leased again at once, in order, and not counted',
    needs: ['outbox'],
    async run({ store, rival }) {
      const outbox = outboxOf(store)
      await append(store, ['a1', 'a'], ['a2', 'a'], ['a3', 'a'], ['free', undefined])
      const leased = await outbox.lease(4, aMinute)
      await outbox.release(leased.toReversed())
      const again = await outboxOf(rival).lease(10, aMinute)
      assert.deepEqual(idsOf(again), ['a1', 'a2', 'a3', 'free'])
      assert.deepEqual(
        again.map(({ attempts }) => attempts),
        leased.map(({ attempts }) => attempts),
      )
      assert.equal(await outbox.markSent(leased), 0)
      await outbox.release(leased)
      assert.deepEqual(await outbox.lease(10, aMinute), [])
      assert.equal(await outboxOf(rival).markSent(again), 4)
      await outbox.release([])
    },
  },
  {
    name: 'outbox order: when a lease runs out its whole row is leased again, in order',
    needs: ['outbox'],
    async run({ store, rival }) {
      await append(store, ['a1', 'a'], ['a2', 'a'], ['a3', 'a'])
      assert.deepEqual(idsOf(await outboxOf(store).lease(2, 1)), ['a1', 'a2'])
      const again = await eventually(async () => {
        const leased = await outboxOf(rival).lease(10, aMinute)
        return leased.length > 0 ? leased : undefined
      }, 'a lease running out')
      assert.deepEqual(idsOf(again), ['a1', 'a2', 'a3'])
    },
  },
  {
    name: 'outbox order: a long row behind one that waits does not hide the others',
    needs: ['outbox'],
    async run({ store }) {
      const outbox = outboxOf(store)
      await append(store, ['a0', 'a'])
      await outbox.markFailed(await outbox.lease(1, aMinute), later)
      await append(store, ...Array.from({ length: 200 }, (_, index) => [`a${index + 1}`, 'a'] as const), ['b1', 'b'])
      assert.deepEqual(idsOf(await outbox.lease(5, aMinute)), ['b1'])
    },
  },
  {
    name: 'outbox order: any text can be a key, and two keys are never one',
    needs: ['outbox'],
    async run({ store }) {
      const outbox = outboxOf(store)
      const keys = ['k', 'K', 'k ', '', '\0', '\0\0', '😀', '\ud800', 'x'.repeat(20_000)]
      await append(store, ...keys.map((key, index) => [`o${index}`, key] as const))
      await outbox.markFailed(await outbox.lease(1, aMinute), later)
      assert.equal((await outbox.lease(100, aMinute)).length, keys.length - 1)
    },
  },
  {
    name: 'outbox order: relays that lease at the same time never get in between each other',
    needs: ['outbox'],
    async run({ store, rival }) {
      const keys = ['a', 'b', 'c']
      const ids = Array.from({ length: 120 }, (_, index): [string, string] => [`o${index}`, keys[index % 3] ?? ''])
      await append(store, ...ids)
      const keyOf = new Map(ids)
      const sent: string[] = []
      const relay = async (outbox: Outbox<unknown>, limit: number) => {
        // Nothing to lease is no end: the other may have leased the first of every key.
        for (let looks = 0; looks < 20_000 && sent.length < ids.length; looks++) {
          const leased = await outbox.lease(limit, aMinute)
          sent.push(...idsOf(leased))
          await outbox.markSent(leased)
        }
      }
      await Promise.all([relay(outboxOf(store), 3), relay(outboxOf(rival), 5)])
      for (const key of keys) {
        const ofKey = (id: string) => keyOf.get(id) === key
        assert.deepEqual(sent.filter(ofKey), ids.map(([id]) => id).filter(ofKey))
      }
    },
  },
]

function append<Tx>(store: Store<Tx>, ...messages: readonly (readonly [string, string | undefined])[]): Promise<void> {
  return store.transaction((tx) =>
    outboxOf(store).append(
      tx,
      messages.map(([id, key]) => outboxMessage(id, key)),
    ),
  )
}

function outboxOf<Tx>(store: Store<Tx>): Outbox<Tx> {
  return present(store.outbox, 'store.outbox')
}
