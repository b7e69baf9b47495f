import assert from 'node:assert/strict'
import type { QueuedMessage } from '../../contracts/index.ts'
import { isJustonceError } from '../../errors/index.ts'
import { awkwardMessages, bytesOf, claim, toQueue } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf, hold } from '../waiting.ts'
import { aMinute, countsOf, queueOf, remove, send, take, takenAgain, textsOf } from './queue-steps.ts'

export const queueCases: readonly StoreCase[] = [
  {
    name: 'queue: each message is taken once, first in, first out, up to the limit',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'q1', 'q2')
      await send(rival, 'q3')
      assert.deepEqual(await countsOf(store), { ready: 3, hidden: 0 })
      assert.deepEqual(textsOf(await take(store, 2)), ['q1', 'q2'])
      assert.deepEqual(textsOf(await take(rival, 10)), ['q3'])
      assert.deepEqual(await take(store, 10), [])
      assert.deepEqual(await countsOf(store), { ready: 0, hidden: 3 })
    },
  },
  {
    name: 'queue: messages sent together keep their order',
    needs: ['queue'],
    async run({ store }) {
      const texts = Array.from({ length: 300 }, (_, index) => `q${index}`)
      await send(store, ...texts)
      assert.deepEqual(textsOf(await take(store, 1_000)), texts)
    },
  },
  {
    name: 'queue: what was sent inside a transaction can be taken only after its commit, and never if it is rolled back',
    needs: ['queue', 'concurrent'],
    async run({ store, rival }) {
      const committing = await hold(store, (tx) => queueOf(store).send(tx, 'notes', [toQueue('committed')]))
      const undoing = await hold(store, (tx) => queueOf(store).send(tx, 'notes', [toQueue('undone')]))
      assert.deepEqual(await take(rival, 10), [])
      await committing.commit()
      await undoing.undo()
      assert.deepEqual(textsOf(await take(rival, 10)), ['committed'])
      assert.deepEqual(await countsOf(store), { ready: 0, hidden: 1 })
    },
  },
  {
    name: 'queue: a transaction that fails sends nothing and removes nothing',
    needs: ['queue'],
    async run({ store }) {
      await send(store, 'q1')
      const [taken] = await take(store, 1)
      const work = store.transaction(async (tx) => {
        await claim(store, tx, 'm1')
        await queueOf(store).send(tx, 'notes', [toQueue('q2')])
        await queueOf(store).remove(tx, 'notes', [taken?.ticket ?? ''])
        throw new Error('the work failed')
      })
      await failureOf(work, 'work that throws')
      assert.deepEqual(await countsOf(store), { ready: 0, hidden: 1 })
    },
  },
  {
    name: 'queue: a message that must still be held is removed only if it is; otherwise the transaction fails',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'q1')
      const [former] = await take(store, 1, 1)
      const [holder] = await takenAgain(rival)
      const removing = (taken: QueuedMessage | undefined) =>
        store.transaction(async (tx) => {
          await queueOf(store).send(tx, 'notes', [toQueue('q2')])
          await queueOf(store).remove(tx, 'notes', [taken?.ticket ?? ''], { deliveries: taken?.deliveries ?? 0 })
        })
      const lost = async (taken: QueuedMessage | undefined) =>
        assert.ok(isJustonceError(await failureOf(removing(taken), 'a row that another has'), 'CLAIM_LOST'))
      await lost(former)
      assert.deepEqual(await countsOf(store), { ready: 0, hidden: 1 })
      await removing(holder)
      assert.deepEqual(await countsOf(store), { ready: 1, hidden: 0 })
      await lost(holder)
      assert.deepEqual(await countsOf(store), { ready: 1, hidden: 0 })
    },
  },
  {
    name: 'queue: if a message that must be present is no longer in the queue, nothing of the transaction stands',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'removed', 'kept', 'gone', 'done by another')
      const [removed = '', kept = '', gone = '', done = ''] = (await take(store, 10, 1)).map(({ ticket }) => ticket)
      const settle = (tickets: readonly string[], present: readonly string[]) =>
        store.transaction(async (tx) => {
          await queueOf(store).send(tx, 'notes', [toQueue('sent')])
          await queueOf(store).remove(tx, 'notes', tickets, { present })
        })
      const isGone = async (settling: Promise<void>) =>
        assert.ok(isJustonceError(await failureOf(settling, 'a row that is not there'), 'DELIVERY_GONE'))
      // Another process has them now, but they are still in the queue.
      assert.equal((await takenAgain(rival)).length, 4)
      await remove(rival, [{ ticket: gone }, { ticket: done }])
      await isGone(settle([removed, gone], [removed, gone]))
      await isGone(settle([removed], [removed, gone]))
      await isGone(settle([], [gone]))
      assert.deepEqual(await countsOf(store), { ready: 0, hidden: 2 }, 'a part of a failed transaction stands')
      await settle([removed, done], [removed, kept])
      assert.deepEqual(await countsOf(store), { ready: 1, hidden: 1 })
      await isGone(settle([removed], [removed]))
      await settle([removed, kept], [])
      assert.deepEqual(await countsOf(store), { ready: 2, hidden: 0 })
    },
  },
  {
    name: 'queue: messages are kept byte for byte',
    needs: ['queue'],
    async run({ store }) {
      await queueOf(store).send(
        undefined,
        'notes',
        awkwardMessages.map((message) => ({ message, key: undefined })),
      )
      const taken = await take(store, 100)
      assert.deepEqual(
        taken.map(({ message }) => bytesOf(message)),
        awkwardMessages.map(bytesOf),
      )
    },
  },
  {
    name: 'queue: identical messages are separate messages',
    needs: ['queue'],
    async run({ store }) {
      // This is not a mistake: a repeated at-least-once run publishes under the same id.
      const same = [toQueue('q1', 'a'), toQueue('q1', 'a')]
      await store.transaction((tx) => queueOf(store).send(tx, 'notes', same))
      await store.transaction((tx) => queueOf(store).send(tx, 'notes', same))
      const taken = await take(store, 10)
      assert.deepEqual(textsOf(taken), ['q1', 'q1', 'q1', 'q1'])
      assert.equal(new Set(taken.map(({ ticket }) => ticket)).size, 4)
      await remove(store, taken.slice(0, 1))
      assert.deepEqual(await countsOf(store), { ready: 0, hidden: 3 })
    },
  },
  {
    name: 'queue: the bytes taken at once are limited, but one message is always taken',
    needs: ['queue'],
    async run({ store }) {
      const large = (text: string, key?: string) => ({
        message: { envelope: Buffer.from(text), body: Buffer.alloc(30_000, 1) },
        key,
      })
      const messages = [large('m1'), large('m2', 'a'), large('m3'), large('m4', 'a'), large('m5')]
      await queueOf(store).send(undefined, 'notes', messages)
      const takeUpTo = async (maxBytes: number): Promise<readonly string[]> => {
        const taken = await queueOf(store).take('notes', { limit: 10, visibilityMs: aMinute, maxBytes })
        return taken.map(({ message }) => Buffer.from(message.envelope).toString())
      }
      assert.deepEqual(await takeUpTo(70_000), ['m1', 'm2'])
      // The key of m4 is closed while m2 is hidden.
      assert.deepEqual(await takeUpTo(1), ['m3'])
      assert.deepEqual(await takeUpTo(1_000_000), ['m5'])
    },
  },
  {
    name: 'queue: queues are separate, even if their names are almost the same',
    needs: ['queue'],
    async run({ store }) {
      const names = ['notes', 'Notes', 'notes ', 'notes2', 'nötes']
      for (const name of names) await queueOf(store).send(undefined, name, [toQueue(`of ${name}`)])
      for (const name of names) {
        const taken = await queueOf(store).take(name, { limit: 10, visibilityMs: aMinute })
        assert.deepEqual(textsOf(taken), [`of ${name}`])
      }
      assert.deepEqual(await countsOf(store, 'empty'), { ready: 0, hidden: 0 })
    },
  },
  {
    name: 'queue: rivals never get the same message, and together they get all',
    needs: ['queue'],
    async run({ store, rival }) {
      const texts = Array.from({ length: 120 }, (_, index) => `q${String(index).padStart(3, '0')}`)
      await send(store, ...texts)
      const drain = async (self: typeof store) => {
        const mine: string[] = []
        for (let empty = 0; empty < 2; ) {
          const taken = await take(self, 4)
          empty = taken.length === 0 ? empty + 1 : 0
          mine.push(...textsOf(taken))
        }
        return mine
      }
      const shares = await Promise.all(Array.from({ length: 8 }, (_, index) => drain(index % 2 === 0 ? store : rival)))
      assert.deepEqual(shares.flat().sort(), texts)
    },
  },
  {
    name: 'queue: removed is gone for good, and removing it again is no error',
    needs: ['queue'],
    async run({ store, rival }) {
      await send(store, 'q1', 'q2')
      const tickets = (await take(store, 10)).map(({ ticket }) => ticket)
      await queueOf(rival).remove(undefined, 'notes', tickets.slice(0, 1))
      assert.deepEqual(await countsOf(store), { ready: 0, hidden: 1 })
      await store.transaction((tx) => queueOf(store).remove(tx, 'notes', tickets))
      await queueOf(store).remove(undefined, 'notes', tickets)
      assert.deepEqual(await countsOf(store), { ready: 0, hidden: 0 })
    },
  },
  {
    name: 'queue: a removal that is not committed yet does not stop others from taking the rest',
    needs: ['queue', 'concurrent'],
    async run({ store, rival }) {
      await send(store, 'q1', 'q2')
      const [first] = await take(store, 1)
      const open = await hold(store, (tx) => queueOf(store).remove(tx, 'notes', [first?.ticket ?? '']))
      assert.deepEqual(textsOf(await take(rival, 10)), ['q2'])
      await open.commit()
      assert.deepEqual(await countsOf(store), { ready: 0, hidden: 1 })
    },
  },
  {
    name: 'queue: sending, removing, hiding or giving back nothing is no error',
    needs: ['queue'],
    async run({ store }) {
      await queueOf(store).send(undefined, 'notes', [])
      await queueOf(store).remove(undefined, 'notes', [])
      await queueOf(store).hide('notes', [], 0)
      await queueOf(store).hide('notes', [], 0, { untaken: true })
      assert.deepEqual(await take(store, 10), [])
    },
  },
]
