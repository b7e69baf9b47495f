import assert from 'node:assert/strict'
import type { Outbox, Store } from '../../contracts/index.ts'
import { bytesOf, outboxMessage, present } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'

const aMinute = 60_000

export const outboxDeadCases: readonly StoreCase[] = [
  {
    name: 'outbox dead: they are listed, oldest first, with their content and what was said of them',
    needs: ['outbox'],
    async run({ store, rival }) {
      const outbox = outboxOf(store)
      assert.deepEqual(await outbox.listDead(10), [])
      await die(store, 'o1', `it's "refused" 😀`)
      await die(store, 'o2', 'too large')
      await append(store, 'alive')
      const found = await outboxOf(rival).listDead(10)
      assert.deepEqual(
        found.map(({ id, error, attempts, message }) => ({ id, error, attempts, message: bytesOf(message) })),
        [
          { id: 'o1', error: `it's "refused" 😀`, attempts: 1, message: bytesOf(outboxMessage('o1').message) },
          { id: 'o2', error: 'too large', attempts: 1, message: bytesOf(outboxMessage('o2').message) },
        ],
      )
      assert.deepEqual(
        (await outbox.listDead(1)).map(({ id }) => id),
        ['o1'],
      )
    },
  },
  {
    name: 'outbox dead: those that are named live again, at once and with no attempts counted',
    needs: ['outbox'],
    async run({ store }) {
      const outbox = outboxOf(store)
      for (const id of ['o1', 'o2', 'o3']) await die(store, id, 'refused')
      const unknown = Array.from({ length: 20_000 }, (_, index) => `unknown-${index}`)
      assert.equal(await outbox.retryDead(['o2', ...unknown]), 1)
      assert.equal(await outbox.retryDead(['o2']), 0)
      assert.equal(await outbox.retryDead([]), 0)
      assert.deepEqual(await outbox.count(), { pending: 1, dead: 2 })
      const leased = await outbox.lease(10, aMinute)
      assert.deepEqual(
        leased.map(({ id, attempts }) => [id, attempts]),
        [['o2', 0]],
      )
      assert.equal(await outbox.markSent(leased), 1)
      assert.equal(await outbox.retryDead(), 2)
      assert.deepEqual(await outbox.count(), { pending: 2, dead: 0 })
    },
  },
  {
    name: 'outbox dead: one that lives again comes before what waits behind it in its key',
    needs: ['outbox'],
    async run({ store }) {
      const outbox = outboxOf(store)
      await die(store, 'a1', 'refused', 'a')
      await append(store, 'a2', 'a')
      await append(store, 'a3', 'a')
      assert.equal(await outbox.retryDead(['a1']), 1)
      const leased = await outbox.lease(2, aMinute)
      assert.deepEqual(
        leased.map(({ id }) => id),
        ['a1', 'a2'],
      )
      await outbox.markSent(leased)
      assert.deepEqual(
        (await outbox.lease(2, aMinute)).map(({ id }) => id),
        ['a3'],
      )
    },
  },
]

async function die<Tx>(store: Store<Tx>, id: string, error: string, key?: string): Promise<void> {
  await append(store, id, key)
  await outboxOf(store).markFailed(await outboxOf(store).lease(1, aMinute), { delayMs: 0, error, dead: true })
}

function append<Tx>(store: Store<Tx>, id: string, key?: string): Promise<void> {
  return store.transaction((tx) => outboxOf(store).append(tx, [outboxMessage(id, key)]))
}

function outboxOf<Tx>(store: Store<Tx>): Outbox<Tx> {
  return present(store.outbox, 'store.outbox')
}
