import assert from 'node:assert/strict'
import type { LeasedMessage, Outbox, PackedMessage, Store } from '../../contracts/index.ts'
import { awkwardMessages, bytesOf, claim, outboxMessage, present } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually, failureOf, hold } from '../waiting.ts'

const aMinute = 60_000
const idsOf = (messages: readonly LeasedMessage[]) => messages.map(({ id }) => id)

export const outboxCases: readonly StoreCase[] = [
  {
    name: 'outbox: what was appended is leased after the commit, oldest first, up to the limit',
    needs: ['outbox'],
    async run({ store, rival }) {
      await append(store, 'o1', 'o2')
      await append(store, 'o3')
      assert.deepEqual(await outboxOf(store).count(), { pending: 3, dead: 0 })
      assert.deepEqual(idsOf(await outboxOf(store).lease(2, aMinute)), ['o1', 'o2'])
      assert.deepEqual(idsOf(await outboxOf(rival).lease(2, aMinute)), ['o3'])
    },
  },
  {
    name: 'outbox: so many bytes are leased at once, and one message whatever its size',
    needs: ['outbox'],
    async run({ store, rival }) {
      const large = (id: string, key?: string) => ({
        ...outboxMessage(id, key),
        message: { envelope: Buffer.from(id), body: Buffer.alloc(20_000, 1) },
      })
      const messages = [large('o1'), large('o2', 'a'), large('o3'), large('o4', 'a'), large('o5')]
      await store.transaction((tx) => outboxOf(store).append(tx, messages))
      assert.deepEqual(idsOf(await outboxOf(store).lease(10, aMinute, 30_000)), ['o1', 'o2'])
      // The key of o4 is closed while o2 is leased.
      assert.deepEqual(idsOf(await outboxOf(rival).lease(10, aMinute, 1)), ['o3'])
      assert.deepEqual(idsOf(await outboxOf(rival).lease(10, aMinute, 1_000_000)), ['o5'])
    },
  },
  {
    name: 'outbox: what was appended vanishes with its transaction, and is not leased before the commit',
    needs: ['outbox', 'concurrent'],
    async run({ store, rival }) {
      const open = await hold(store, (tx) => outboxOf(store).append(tx, [outboxMessage('o1')]))
      assert.deepEqual(await outboxOf(rival).lease(10, aMinute), [])
      await open.undo()
      assert.deepEqual(await outboxOf(rival).lease(10, aMinute), [])
      assert.deepEqual(await outboxOf(store).count(), { pending: 0, dead: 0 })
    },
  },
  {
    name: 'outbox: a transaction that fails sends nothing',
    needs: ['outbox'],
    async run({ store }) {
      const work = store.transaction(async (tx) => {
        await claim(store, tx, 'm1')
        await outboxOf(store).append(tx, [outboxMessage('o1')])
        throw new Error('the work failed')
      })
      await failureOf(work, 'work that throws')
      assert.deepEqual(await outboxOf(store).lease(10, aMinute), [])
    },
  },
  {
    name: 'outbox: messages survive byte for byte, in the order in which they were appended',
    needs: ['outbox'],
    async run({ store }) {
      const messages = awkwardMessages.map((message, index) => ({ id: `o${index}`, key: undefined, message }))
      await store.transaction((tx) => outboxOf(store).append(tx, messages))
      const leased = await outboxOf(store).lease(100, aMinute)
      assert.deepEqual(
        leased.map(({ id, message }) => ({ id, message: bytesOf(message) })),
        messages.map(({ id, message }) => ({ id, message: bytesOf(message) })),
      )
    },
  },
  {
    name: 'outbox: many at once keep their order',
    needs: ['outbox'],
    async run({ store }) {
      const ids = Array.from({ length: 300 }, (_, index) => `o${String(index).padStart(4, '0')}`)
      await append(store, ...ids)
      assert.deepEqual(idsOf(await outboxOf(store).lease(1_000, aMinute)), ids)
    },
  },
  {
    name: 'outbox: nothing to append, to mark or to lease is no error',
    needs: ['outbox'],
    async run({ store }) {
      await store.transaction((tx) => outboxOf(store).append(tx, []))
      assert.deepEqual(await outboxOf(store).lease(10, aMinute), [])
      assert.equal(await outboxOf(store).markSent([]), 0)
      await outboxOf(store).markFailed([], { delayMs: 0, error: 'no', dead: false })
      assert.deepEqual(await outboxOf(store).count(), { pending: 0, dead: 0 })
    },
  },
  {
    name: 'outbox: messages under one id are messages of their own, also while one of them is dead',
    needs: ['outbox'],
    async run({ store }) {
      const outbox = outboxOf(store)
      const [first, second] = awkwardMessages as [PackedMessage, PackedMessage]
      const appendBoth = () =>
        store.transaction((tx) =>
          outbox.append(
            tx,
            [first, second].map((message) => ({ id: 'o1', key: 'k', message })),
          ),
        )
      await appendBoth()
      const [one, two] = await outbox.lease(10, aMinute)
      assert.ok(one && two)
      assert.deepEqual(
        [one, two].map(({ message }) => bytesOf(message)),
        [first, second].map(bytesOf),
      )
      assert.equal(await outbox.markSent([two]), 1)
      await outbox.markFailed([one], { delayMs: 0, error: 'no', dead: true })
      await appendBoth()
      assert.deepEqual(await outbox.count(), { pending: 2, dead: 1 })
      assert.equal(await outbox.retryDead(['o1']), 1)
      assert.deepEqual(idsOf(await outbox.lease(10, aMinute)), ['o1', 'o1', 'o1'])
    },
  },
  {
    name: 'outbox: two relays that lease at the same time share the messages out',
    needs: ['outbox'],
    async run({ store, rival }) {
      const ids = Array.from({ length: 20 }, (_, index) => `o${String(index).padStart(2, '0')}`)
      await append(store, ...ids)
      const drain = async (outbox: Outbox<unknown>) => {
        const mine: string[] = []
        for (let empty = 0; empty < 2; ) {
          const leased = await outbox.lease(3, aMinute)
          empty = leased.length === 0 ? empty + 1 : 0
          mine.push(...idsOf(leased))
        }
        return mine
      }
      const shares = await Promise.all([drain(outboxOf(store)), drain(outboxOf(rival))])
      assert.deepEqual(shares.flat().sort(), ids)
    },
  },
  {
    name: 'outbox: what was sent is gone, and marking it again changes nothing',
    needs: ['outbox'],
    async run({ store, rival }) {
      await append(store, 'o1', 'o2')
      const leased = await outboxOf(store).lease(10, aMinute)
      assert.equal(await outboxOf(rival).markSent(leased.slice(0, 1)), 1)
      assert.equal(await outboxOf(store).markSent(leased), 1)
      assert.equal(await outboxOf(store).markSent(leased), 0)
      assert.deepEqual(await outboxOf(store).count(), { pending: 0, dead: 0 })
    },
  },
  {
    name: 'outbox: when a lease runs out another takes over, and whoever comes back late changes nothing',
    needs: ['outbox'],
    async run({ store, rival }) {
      await append(store, 'o1')
      const [late] = await outboxOf(store).lease(1, 1)
      const [taken] = await eventually(async () => {
        const leased = await outboxOf(rival).lease(1, aMinute)
        return leased.length > 0 ? leased : undefined
      }, 'a lease running out')
      assert.ok(late && taken)
      assert.equal(taken.id, 'o1')
      assert.notEqual(taken.lease, late.lease)
      assert.equal(await outboxOf(store).markSent([late]), 0)
      await outboxOf(store).markFailed([late], { delayMs: 0, error: 'late', dead: true })
      assert.deepEqual(await outboxOf(store).count(), { pending: 1, dead: 0 })
      assert.deepEqual(await outboxOf(store).lease(1, aMinute), [])
      assert.equal(await outboxOf(rival).markSent([taken]), 1)
    },
  },
  {
    name: 'outbox: a failure is counted and tried again, after its delay',
    needs: ['outbox'],
    async run({ store }) {
      const outbox = outboxOf(store)
      await append(store, 'o1', 'o2')
      const [first, second] = await outbox.lease(10, aMinute)
      assert.ok(first && second)
      await outbox.markFailed([first], { delayMs: 0, error: `it's "refused" 😀`, dead: false })
      await outbox.markFailed([second], { delayMs: 3_600_000.5, error: 'later', dead: false })
      const again = await outbox.lease(10, aMinute)
      assert.deepEqual(idsOf(again), ['o1'])
      assert.equal(again[0]?.attempts, first.attempts + 1)
      await outbox.markFailed(again, { delayMs: 0, error: 'no', dead: false })
      assert.equal((await outbox.lease(10, aMinute))[0]?.attempts, first.attempts + 2)
      assert.deepEqual(await outbox.count(), { pending: 2, dead: 0 })
    },
  },
  {
    name: 'outbox: a dead message is kept and counted but never leased',
    needs: ['outbox'],
    async run({ store }) {
      const outbox = outboxOf(store)
      await append(store, 'o1', 'o2')
      const [first] = await outbox.lease(1, aMinute)
      assert.ok(first)
      await outbox.markFailed([first], { delayMs: 0, error: 'refused for good', dead: true })
      assert.deepEqual(await outbox.count(), { pending: 1, dead: 1 })
      assert.deepEqual(idsOf(await outbox.lease(10, aMinute)), ['o2'])
    },
  },
]

function append<Tx>(store: Store<Tx>, ...ids: readonly string[]): Promise<void> {
  return store.transaction((tx) =>
    outboxOf(store).append(
      tx,
      ids.map((id) => outboxMessage(id)),
    ),
  )
}

function outboxOf<Tx>(store: Store<Tx>): Outbox<Tx> {
  return present(store.outbox, 'store.outbox')
}
