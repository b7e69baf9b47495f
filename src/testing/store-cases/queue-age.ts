import assert from 'node:assert/strict'
import type { Store } from '../../contracts/index.ts'
import { toQueue } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { queueOf, remove, send, take } from './queue-steps.ts'

/** More than the clocks of a process and a database drift apart in such a short time. */
const toleranceMs = 100

export const queueAgeCases: readonly StoreCase[] = [
  {
    name: 'queue: the age of the oldest message grows, whether it can be taken or not',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'q1')
      let age = await growsBeyond(rival, 3 * toleranceMs)
      const isNotYounger = async (after: string) => {
        const now = await ageOf(rival)
        assert.ok(now >= age, `${after} its age is ${now} ms, and was ${age} ms before`)
        age = now
      }
      const taken = await take(store, 1)
      await isNotYounger('when taken')
      await queueOf(store).hide('notes', taken, 0)
      await isNotYounger('when delivered again')
      await queueOf(store).hide('notes', await take(store, 1), 0, { untaken: true })
      await isNotYounger('when released')
    },
  },
  {
    name: 'queue: the age is that of the oldest message that is left',
    needs: ['queue'],
    async run({ store }) {
      await send(store, 'q1')
      const old = await growsBeyond(store, 3 * toleranceMs)
      const begun = performance.now()
      await send(store, 'q2')
      assert.ok((await ageOf(store)) >= old, 'a younger one has hidden the oldest')
      await remove(store, await take(store, 1))
      await isNoOlderThan(store, begun)
    },
  },
  {
    name: 'queue: the age says nothing of other queues, and an empty queue has none',
    needs: ['queue'],
    async run({ store }) {
      const none = { ready: 0, hidden: 0, oldestMs: undefined }
      await queueOf(store).send(undefined, 'others', [toQueue('q0')])
      await growsBeyond(store, 3 * toleranceMs, 'others')
      assert.deepEqual(await queueOf(store).count('notes'), none)
      const begun = performance.now()
      await send(store, 'q1')
      await isNoOlderThan(store, begun)
      await remove(store, await take(store, 1))
      assert.deepEqual(await queueOf(store).count('notes'), none)
    },
  },
]

async function ageOf<Tx>(store: Store<Tx>, queue = 'notes'): Promise<number> {
  const { oldestMs } = await queueOf(store).count(queue)
  return oldestMs ?? assert.fail('it has no age')
}

function growsBeyond<Tx>(store: Store<Tx>, ms: number, queue = 'notes'): Promise<number> {
  return eventually(async () => {
    const age = await ageOf(store, queue)
    return age > ms ? age : undefined
  }, `an age of more than ${ms} ms`)
}

/** The database and the process measure the same time, however slow the machine is. */
async function isNoOlderThan<Tx>(store: Store<Tx>, begun: number): Promise<void> {
  const age = await ageOf(store)
  const most = performance.now() - begun + toleranceMs
  assert.ok(age <= most, `the age is ${age} ms, of a message that was sent less than ${most} ms ago`)
}
