import assert from 'node:assert/strict'
import { justonce } from '../../app/justonce.ts'
import type { OutgoingMessage, Publisher, PublishResult } from '../../contracts/index.ts'
import { overriding } from '../overriding.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { type BenchStore, engineCase, takeOutgoing } from './bench.ts'

/** A broker that refuses some messages, and holds back what follows one of them under its key. */
function refusingBroker() {
  const refused = new Set<string>()
  const sent: string[] = []
  const publisher: Publisher = {
    destination: 'events',
    async publish(messages) {
      const stopped = new Set<string>()
      return messages.map(({ id, key = id }: OutgoingMessage): PublishResult => {
        if (stopped.has(key)) return { kind: 'held' }
        if (!refused.has(id)) {
          sent.push(id)
          return { kind: 'sent' }
        }
        stopped.add(key)
        return { kind: 'refused', error: new Error('no such exchange') }
      })
    },
    async close() {},
  }
  return { refused, sent, publisher }
}

/** Ten attempts take half an hour otherwise. */
function impatient(store: BenchStore): BenchStore {
  const { queue } = store
  const hide: typeof queue.hide = (name, taken, ms, options) => queue.hide(name, taken, Math.ceil(ms / 10_000), options)
  return overriding(store, { queue: overriding(queue, { hide }) })
}

/** What a broker refuses for good is a dead letter: nothing else of it is left, and nothing of it is lost. */
export const refusedCases: readonly StoreCase[] = [
  engineCase({
    name: 'refused: a message that its broker refuses for good is one dead letter, lets its key go on, and leaves once when it is redriven',
    needs: ['queue'],
    async run({ store, rival, transaction }) {
      const { refused, sent, publisher } = refusingBroker()
      refused.add('m2')
      const [app, other] = [store, rival].map((each) =>
        justonce<BenchStore>({ store: impatient(each), to: { events: publisher }, pollMs: 20, log: false }),
      ) as [ReturnType<typeof justonce<BenchStore>>, ReturnType<typeof justonce<BenchStore>>]
      const messages = ['m1', 'm2', 'm3', 'm4'].map((id) => ({ type: 'note.tagged', body: { id }, id }))
      const keyed = messages.map((each, index) => ({ ...each, key: index % 2 === 0 ? 'odd' : 'even' }))
      await transaction((tx) => app.publishAll(keyed, { tx }))
      await Promise.all([app.start(), other.start()])
      try {
        const died = async () => {
          const letters = await app.operations.letters.list()
          return letters.length > 0 && sent.length === 3 ? letters : undefined
        }
        const [letter, ...more] = await eventually(died, 'a dead letter, and the others at the broker')
        assert.deepEqual(more, [])
        assert.deepEqual([...sent].sort(), ['m1', 'm3', 'm4'])
        const { handler, messageId, reason, attempts, body } = letter as typeof letter & object
        assert.deepEqual(
          { handler, messageId, reason, attempts, body },
          { handler: '>events', messageId: 'm2', reason: 'OUTGOING_REFUSED', attempts: 10, body: { id: 'm2' } },
        )
        assert.deepEqual(await takeOutgoing(store), [])

        refused.clear()
        await app.operations.letters.redrive('all', { by: 'ana' })
        await eventually(async () => (sent.length >= 4 ? true : undefined), 'the redriven one')
      } finally {
        await Promise.all([app.stop(), other.stop()])
      }
      assert.deepEqual(sent.slice(3), ['m2'])
      assert.deepEqual(await store.parking.list({ kind: 'any' }), [])
      assert.deepEqual(await takeOutgoing(store), [])
    },
  }),
]
