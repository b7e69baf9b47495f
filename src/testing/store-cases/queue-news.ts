import assert from 'node:assert/strict'
import type { Store } from '../../contracts/index.ts'
import { toQueue } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually, failureOf, staysPending } from '../waiting.ts'
import { queueOf, send, take, textsOf } from './queue-steps.ts'

export const queueNewsCases: readonly StoreCase[] = [
  {
    name: 'queue: a listener hears of what another process has sent, until it stops',
    needs: ['queue', 'queue-listen'],
    async run({ store, rival }) {
      const ear = await listening(rival)
      await send(store, 'q1')
      await queueOf(store).announce?.('notes')
      await ear.hears()
      assert.deepEqual(textsOf(await take(rival, 1)), ['q1'])
      await ear.stop()
      const late = await listening(rival)
      await late.stop()
      await send(store, 'q2')
      await queueOf(store).announce?.('notes')
      await staysPending(late.heard, 'a listener that has stopped')
    },
  },
  {
    name: 'queue: what is announced inside a transaction wakes listeners when it commits, and not before',
    needs: ['queue', 'queue-listen', 'queue-announce'],
    async run({ store, rival }) {
      const ear = await listening(rival)
      await store.transaction(async (tx) => {
        await queueOf(store).send(tx, 'notes', [toQueue('q1')])
        await queueOf(store).announce?.('notes', tx)
        await staysPending(ear.heard, 'a listener, before the commit,')
      })
      await ear.hears()
      assert.deepEqual(textsOf(await take(rival, 1)), ['q1'])
      await ear.stop()
    },
  },
  {
    name: 'queue: what is announced inside a transaction that is rolled back wakes nobody',
    needs: ['queue', 'queue-listen', 'queue-announce'],
    async run({ store, rival }) {
      const ear = await listening(rival)
      const work = store.transaction(async (tx) => {
        await queueOf(store).send(tx, 'notes', [toQueue('q1')])
        await queueOf(store).announce?.('notes', tx)
        throw new Error('the work failed')
      })
      await failureOf(work, 'work that throws')
      await staysPending(ear.heard, 'a listener, after a rollback,')
      await ear.stop()
    },
  },
]

interface Ear {
  readonly heard: Promise<void>
  /** Fails if it takes too long. */
  hears(): Promise<void>
  stop(): Promise<void>
}

async function listening<Tx>(store: Store<Tx>): Promise<Ear> {
  const { promise: heard, resolve } = Promise.withResolvers<void>()
  let isWoken = false
  const stop = await queueOf(store).listen?.('notes', () => {
    isWoken = true
    resolve()
  })
  return {
    heard,
    async hears() {
      await eventually(async () => isWoken || undefined, 'a wake-up')
    },
    stop: async () => void (await stop?.()),
  }
}
