import assert from 'node:assert/strict'
import { justonce } from '../../app/justonce.ts'
import { unpackMessage } from '../../encoding/packed-message.ts'
import { countParked } from '../../operations/index.ts'
import { queueTransport } from '../../transports/queue/index.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually, failureOf } from '../waiting.ts'
import { type BenchStore, countsOf, engineCase, later } from './bench.ts'

/** The database as the broker: settling and publishing are part of the transaction of the effects. */
export const insideCases: readonly StoreCase[] = [
  engineCase({
    name: 'inside: a message from the queue of the store takes effect once and leaves the queue, failed or not',
    needs: ['queue'],
    async run({ store, rival, effects }) {
      const apps = [store, rival].map((own) => {
        const transport = queueTransport({ store: own, queue: 'notes', pollMs: 10 })
        const app = justonce<BenchStore>({ store: own, transport, concurrency: 1 })
        app.on('note.created', { name: 'tag-note', ...later }, async ({ body }, { tx, publish }) => {
          await effects.write(tx, body as string)
          await publish('note.tagged', body)
          if (body === 'm3') throw new Error('no')
        })
        app.on('note.tagged', 'count-tags', ({ body }, { tx }) => effects.write(tx, `${body} tagged`))
        return { app, transport, queue: own.queue }
      })
      const names = ['m1', 'm2', 'm3', 'm4', 'm5']
      for (const name of names) await apps[0]?.app.publish('note.created', name)
      for (const { app } of apps) await app.start()
      const empty = async () => {
        const { ready, hidden } = (await apps[0]?.queue.count('notes')) ?? assert.fail()
        return ready + hidden === 0 ? true : undefined
      }
      await eventually(empty, 'an empty queue')
      for (const { app, transport } of apps) {
        await app.stop()
        await transport.close()
      }
      assert.deepEqual(await countsOf(effects, ...names), { m1: 1, m2: 1, m3: 0, m4: 1, m5: 1 })
      const tagged = await countsOf(effects, ...names.map((name) => `${name} tagged`))
      assert.deepEqual(Object.values(tagged), [1, 1, 0, 1, 1])
      assert.equal(await countParked(store), 1)
    },
  }),
  engineCase({
    name: 'inside: many messages that are published together in a transaction are all in the queue when it commits, or none of them',
    needs: ['queue'],
    async run({ store, transaction }) {
      const app = justonce<BenchStore>({ store, to: queueTransport({ store, queue: 'notes' }) })
      const notes = Array.from({ length: 120 }, (_, index) => ({
        type: 'note.created',
        body: index,
        key: `k${index % 7}`,
      }))
      const failing = transaction(async (tx) => {
        await app.publishAll(notes, { tx })
        throw new Error('the work failed')
      })
      await failureOf(failing, 'work that throws')
      assert.equal((await store.queue.count('notes')).ready, 0)
      const ids = await transaction(async (tx) => {
        const published = await app.publishAll(notes, { tx })
        assert.equal((await store.queue.count('notes')).ready, 0, 'they are in the queue before the commit')
        return published
      })
      const taken = await store.queue.take('notes', { limit: 200, visibilityMs: 60_000 })
      assert.deepEqual(
        taken.map(({ message }) => unpackMessage(message).id),
        ids,
      )
      await app.stop()
    },
  }),
]
