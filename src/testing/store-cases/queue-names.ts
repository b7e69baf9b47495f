import assert from 'node:assert/strict'
import type { Store } from '../../contracts/index.ts'
import { toQueue } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf } from '../waiting.ts'
import { aMinute, queueOf } from './queue-steps.ts'

/** The names by which messages that nobody sends any more can be found. */
export const queueNameCases: readonly StoreCase[] = [
  {
    name: 'queue names: every queue that has messages is named once, even when all of them are hidden',
    needs: ['queue'],
    async run({ store, rival }) {
      assert.deepEqual(await queueOf(store).queues(), [])
      await sendTo(store, 'one', 'q1')
      await sendTo(store, 'many', 'q1', 'q2', 'q3')
      await sendTo(rival, 'hidden', 'q1', 'q2')
      await queueOf(store).take('many', { limit: 1, visibilityMs: aMinute })
      await queueOf(store).take('hidden', { limit: 10, visibilityMs: aMinute })
      assert.deepEqual(await namesOf(store), ['hidden', 'many', 'one'])
      assert.deepEqual(await namesOf(rival), ['hidden', 'many', 'one'])
    },
  },
  {
    name: 'queue names: one whose last message was removed is not named any more',
    needs: ['queue'],
    async run({ store, rival }) {
      await sendTo(store, 'emptied', 'q1', 'q2')
      await sendTo(store, 'kept', 'q1')
      const [first, second] = await queueOf(store).take('emptied', { limit: 10, visibilityMs: aMinute })
      assert.ok(first && second)
      await queueOf(store).remove(undefined, 'emptied', [first.ticket])
      assert.deepEqual(await namesOf(rival), ['emptied', 'kept'])
      await store.transaction((tx) => queueOf(store).remove(tx, 'emptied', [second.ticket]))
      assert.deepEqual(await namesOf(rival), ['kept'])
      await sendTo(store, 'emptied', 'q3')
      assert.deepEqual(await namesOf(rival), ['emptied', 'kept'])
    },
  },
  {
    name: 'queue names: one that only a failed transaction has sent to is not named',
    needs: ['queue'],
    async run({ store }) {
      const work = store.transaction(async (tx) => {
        await queueOf(store).send(tx, 'undone', [toQueue('q1')])
        throw new Error('the work failed')
      })
      await failureOf(work, 'work that throws')
      await queueOf(store).send(undefined, 'empty', [])
      assert.deepEqual(await queueOf(store).queues(), [])
    },
  },
  {
    name: 'queue names: names are returned as they were spelled, and similar names are kept apart',
    needs: ['queue'],
    async run({ store }) {
      const names = ['notes', '>notes', '>Notes', '>notes ', '>nötes', '>kafka://a:9092,b:9092/%_*?[x]{y}"\'\\', '>😀']
      for (const name of names) await sendTo(store, name, 'q1')
      assert.deepEqual(await namesOf(store), names.toSorted())
    },
  },
]

function sendTo<Tx>(store: Store<Tx>, queue: string, ...texts: readonly string[]): Promise<void> {
  return queueOf(store).send(
    undefined,
    queue,
    texts.map((text) => toQueue(text)),
  )
}

async function namesOf<Tx>(store: Store<Tx>): Promise<readonly string[]> {
  return (await queueOf(store).queues()).toSorted()
}
