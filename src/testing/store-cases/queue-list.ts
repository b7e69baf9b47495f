import assert from 'node:assert/strict'
import type { MessageInQueue, Queue, Store } from '../../contracts/index.ts'
import { bytesOf, packed, parkedMessage, present, toQueue } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf } from '../waiting.ts'
import { park, rowOf } from './parked-rows.ts'
import { countsOf, queueOf, remove, send, sendKeyed, take, textsOf } from './queue-steps.ts'

/** What operators see of a queue, without taking anything of it. */
export const queueListCases: readonly StoreCase[] = [
  {
    name: 'queue list: every message once, in the order in which they were sent, whether hidden or not, as it was sent',
    needs: ['queue-list'],
    async run({ store, rival }) {
      assert.deepEqual(await listed(store), [])
      await sendKeyed(store, 'a1', 'b1', 'a2')
      await send(store, 'q1')
      await queueOf(store).send(undefined, 'others', [toQueue('x1')])
      const taken = await take(store, 2)
      assert.deepEqual(textsOf(await listed(rival)), ['a1', 'b1', 'a2', 'q1'])
      const [first] = await listed(rival)
      assert.deepEqual(bytesOf(present(first, 'the first').message), bytesOf(packed('a1')))
      assert.equal(first?.ticket, taken[0]?.ticket)
      assert.deepEqual(
        (await listed(rival)).map(({ deliveries }) => deliveries),
        [1, 1, 0, 0],
      )
      await remove(store, taken)
      assert.deepEqual(textsOf(await listed(store)), ['a2', 'q1'])
    },
  },
  {
    name: 'queue list: page by page, also behind a message that is gone, and a page has at most so many bytes, but one message always',
    needs: ['queue-list'],
    async run({ store }) {
      await send(store, 'q1', 'q2', 'x'.repeat(20_000), 'q4', 'q5')
      const [first, second] = await list(store, { limit: 2 })
      assert.deepEqual(textsOf([present(first, 'q1'), present(second, 'q2')]), ['q1', 'q2'])
      await remove(store, await take(store, 2))
      const page = await list(store, { limit: 10, after: second?.ticket, maxBytes: 100 })
      assert.deepEqual(textsOf(page), ['x'.repeat(20_000)])
      assert.deepEqual(textsOf(await list(store, { limit: 10, after: page[0]?.ticket })), ['q4', 'q5'])
      assert.deepEqual(textsOf(await list(store, { limit: 1 })), ['x'.repeat(20_000)])
    },
  },
  {
    name: 'queue list: looking at a queue takes nothing, hides nothing, and shows nothing that did not commit',
    needs: ['queue-list'],
    async run({ store }) {
      await send(store, 'q1')
      const before = await listed(store)
      await failureOf(
        store.transaction(async (tx) => {
          await queueOf(store).send(tx, 'notes', [toQueue('undone')])
          throw new Error('the work failed')
        }),
        'work that throws',
      )
      assert.deepEqual(await listed(store), before)
      assert.deepEqual(await countsOf(store), { ready: 1, hidden: 0 })
      assert.equal((await take(store, 1))[0]?.deliveries, 1)
    },
  },
  {
    name: 'queue list: it says when each message was sent, by the clock that parked messages have their times from',
    needs: ['queue-list'],
    async run({ store }) {
      await send(store, 'q1')
      await send(store, 'q2')
      const [first, second] = await listed(store)
      const sentAt = present(first, 'q1').sentAt.getTime()
      assert.ok(sentAt <= present(second, 'q2').sentAt.getTime())
      await park(store, parkedMessage('m1'))
      const { parkedAt } = await rowOf(store, 'm1')
      assert.ok(Math.abs(parkedAt.getTime() - sentAt) < 600_000, `sent at ${sentAt}, parked at ${parkedAt.getTime()}`)
      await take(store, 1)
      assert.equal((await listed(store))[0]?.sentAt.getTime(), sentAt)
    },
  },
]

function list<Tx>(store: Store<Tx>, page: Parameters<NonNullable<Queue<Tx>['list']>>[1]) {
  return present(queueOf(store).list, 'queue.list')('notes', page)
}

async function listed<Tx>(store: Store<Tx>): Promise<readonly MessageInQueue[]> {
  return await list(store, { limit: 100 })
}
