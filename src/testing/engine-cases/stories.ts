import assert from 'node:assert/strict'
import { operations } from '../../operations/index.ts'
import { queueTransport } from '../../transports/queue/index.ts'
import type { StoreCase } from '../store-case.ts'
import { anHour, engineCase, later, note } from './bench.ts'

/** Why a message was not processed, where the answer is not in a row or a record of its own. */
export const storyCases: readonly StoreCase[] = [
  engineCase({
    name: 'story: a message that is still in a queue of the store is found there, with how often it was taken',
    needs: ['queue-list'],
    async run({ store, rival }) {
      const queue = queueTransport({ store, queue: 'notes' })
      const body = new TextEncoder().encode('{"text":"hello"}')
      const send = (id: string) => ({ id, type: 'note.created', body, headers: {}, key: undefined, sentAt: new Date() })
      await queue.publish(['m1', 'm2', 'm3'].map(send))
      await store.queue.take('notes', { limit: 1, visibilityMs: anHour })
      const { messages } = operations(rival)
      const story = await messages.story('m1')
      assert.deepEqual([story?.handlers, story?.waitsFor, story?.outgoing], [[], undefined, []])
      assert.deepEqual([story?.inQueue?.queue, story?.inQueue?.deliveries], ['notes', 1])
      assert.deepEqual([story?.type, story?.message?.body], ['note.created', { text: 'hello' }])
      assert.equal((await messages.story('m3'))?.inQueue?.deliveries, 0)
      assert.equal(await messages.story('m4'), undefined)
      const named = async (filter: Parameters<typeof messages.find>[0]) =>
        (await messages.find(filter)).map(({ state, handler, messageId }) => `${messageId} ${state} in ${handler}`)
      assert.deepEqual(await named({ id: 'm2' }), ['m2 queued in queue:notes'])
      assert.deepEqual(await named({ state: 'queued' }), [
        'm1 queued in queue:notes',
        'm2 queued in queue:notes',
        'm3 queued in queue:notes',
      ])
      assert.deepEqual(await named({ state: 'outgoing' }), [])
      assert.deepEqual(await named({ state: 'queued', handler: 'queue:others' }), [])
      assert.equal((await store.queue.count('notes')).ready, 2, 'looking has taken something away')
      await queue.close()
    },
  }),
  engineCase({
    name: 'story: a message that waits behind another of its key names the one that has to end first',
    async run({ rival, app }) {
      const { app: notes, handle } = app()
      notes.on('note.created', { name: 'tag-note', ordered: { by: 'key' }, ...later }, ({ id }) => {
        if (id === 'a1') throw new Error('no')
      })
      await handle(
        note('a1', { key: 'a' }),
        note('a2', { key: 'a' }),
        note('b1', { key: 'b' }),
        note('a3', { key: 'a' }),
      )
      const { messages } = operations(rival)
      const behind = async (id: string) => (await messages.story(id))?.handlers[0]?.behind
      assert.equal(await behind('a1'), undefined)
      assert.equal(await behind('b1'), undefined)
      for (const id of ['a2', 'a3'])
        assert.deepEqual(await behind(id), {
          ...{ handler: 'tag-note', key: 'a1', messageId: 'a1' },
          ...{ state: 'waiting', reason: 'HANDLER_FAILED' },
        })
    },
  }),
]
