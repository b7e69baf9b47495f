import assert from 'node:assert/strict'
import type { ClaimAnswer, Store } from '../../contracts/index.ts'
import { present, recordOf, request } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually, failureOf } from '../waiting.ts'
import { queueOf, send, take, textsOf } from './queue-steps.ts'

/** Records that vanish unannounced. Every cache of them must notice, by the epoch. */
export const restoredCases: readonly StoreCase[] = [
  {
    name: 'restored: a database restored to an earlier state has another epoch, for stores opened before and since',
    needs: ['backup'],
    async run({ store, rival, backUp }) {
      for (const each of [store, rival]) {
        await claimed(each, 'm1')
        await recordOf(each, request('m1'))
      }
      const restore = await present(backUp, 'backUp')()
      // In this very epoch, a cache learns of m2 and of its commit.
      const { epoch } = await claimed(store, 'm2')
      const fresh = await restore()

      const first = await claimed(fresh, 'm1')
      assert.equal(first.existing[0]?.state, 'processed', 'the backup is not there')
      assert.notEqual(first.epoch, epoch, 'a cache would still know of m2, which is gone')
      assert.deepEqual((await claimed(fresh, 'm2')).existing, [undefined])
      // Nobody relies on an epoch for longer than a second without asking again.
      for (const each of [store, rival]) {
        const seen = await eventually(async () => {
          const answer = await unlessAway(each, () => claimed(each, 'm2'))
          return answer?.epoch === epoch ? undefined : answer
        }, 'a store that was open all the time and has noticed')
        assert.equal(seen.existing[0]?.state, 'processed', 'it does not see what has happened since')
      }
      await claimed(fresh, 'm3')
      for (const each of [store, rival])
        assert.equal((await recordOf(each, request('m3')))?.state, 'processed', 'it reads what was there before')
    },
  },
  {
    name: 'restored: a ticket from before the restore does not match a message sent since',
    needs: ['backup', 'queue'],
    async run({ store, backUp }) {
      const restore = await present(backUp, 'backUp')()
      await send(store, 'lost')
      const [taken] = await take(store, 1)
      const { ticket } = present(taken, 'the first message')
      const fresh = await restore()
      // Row numbers continue from where the backup was.
      await send(fresh, 'sent since')
      const remove = async () => {
        await queueOf(store).remove(undefined, 'notes', [ticket])
        return true
      }
      await eventually(() => unlessAway(store, remove), 'a store that was open all the time and has noticed')
      assert.deepEqual(textsOf(await take(fresh, 1)), ['sent since'], 'a message was removed that nobody has handled')
    },
  },
  {
    name: 'epoch: an operator can request a new one, which every process sees, and nothing else changes',
    async run({ store, rival }) {
      for (const each of [store, rival, store]) await claimed(each, 'm1')
      const before = await claimed(rival, 'm1')
      const work = store.transaction(async (tx) => {
        await store.inbox.forget(tx, [])
        throw new Error('the work failed')
      })
      await failureOf(work, 'work that throws')
      assert.equal((await claimed(rival, 'm1')).epoch, before.epoch, 'it came of a transaction that was undone')
      await store.transaction((tx) => store.inbox.forget(tx, []))
      const [seen, also] = [await claimed(rival, 'm1'), await claimed(store, 'm1')]
      assert.notEqual(seen.epoch, before.epoch)
      assert.equal(also.epoch, seen.epoch)
      assert.deepEqual(seen.existing, before.existing)
      await store.transaction((tx) => store.inbox.forget(tx, []))
      const third = await claimed(rival, 'm1')
      assert.equal(new Set([before.epoch, seen.epoch, third.epoch]).size, 3, 'one that was there before')
    },
  },
]

function claimed<Tx>(store: Store<Tx>, key: string): Promise<ClaimAnswer> {
  return store.transaction((tx) => store.inbox.claim(tx, [request(key)]))
}

/** A restore may cut connections, so a store may first report that the database is unreachable. */
async function unlessAway<T, Tx>(store: Store<Tx>, ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (store.classify(error) === 'unavailable') return undefined
    throw error
  }
}
