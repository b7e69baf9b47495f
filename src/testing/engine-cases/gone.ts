import assert from 'node:assert/strict'
import { justonce } from '../../app/justonce.ts'
import type { JustonceEvent, QueuedMessage } from '../../contracts/index.ts'
import { unpackMessage } from '../../encoding/packed-message.ts'
import { goneFrom, isJustonceError } from '../../errors/index.ts'
import { countParked } from '../../operations/index.ts'
import { queueTransport } from '../../transports/queue/index.ts'
import { overriding } from '../overriding.ts'
import { present } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { type Bench, type BenchStore, countsOf, engineCase, later } from './bench.ts'

/**
 * A consumer holds messages that are no longer in their queue: the database was restored to an earlier state, a failover has lost
 * commits, or another process has handled them since.
 */
export const goneCases: readonly StoreCase[] = [
  engineCase({
    name: 'gone: of a batch, what is no longer in its queue has no effect, leaves no record and is reported; the others take effect',
    needs: ['queue'],
    async run(bench) {
      const { app, publish, handled, gone } = consumer(bench, ['m2', 'm4'])
      app.on('note.created', 'tag-note', async ({ body }, { tx, publish: send }) => {
        await bench.effects.write(tx, body as string)
        await send('note.tagged', body)
      })
      app.on('note.tagged', 'count-tags', ({ body }, { tx }) => bench.effects.write(tx, `${body} tagged`))
      const names = ['m1', 'm2', 'm3', 'm4', 'm5']
      await publish(...names)
      await app.start()
      await handled()
      const counts = await countsOf(bench.effects, ...names, ...names.map((name) => `${name} tagged`))
      assert.deepEqual(Object.values(counts), [1, 0, 1, 0, 1, 1, 0, 1, 0, 1])
      assert.equal(await countParked(bench.store), 0)
      assert.deepEqual(gone(), ['m2', 'm4'])
      // There is no record of them: sent again under their ids, they take effect.
      await publish('m2', 'm4')
      await handled()
      assert.deepEqual(await countsOf(bench.effects, 'm2', 'm4'), { m2: 1, m4: 1 })
      await app.stop()
    },
  }),
  engineCase({
    name: 'gone: what is no longer in its queue is not parked when its handler fails, and no other handler of it takes effect',
    needs: ['queue'],
    async run(bench) {
      const { app, publish, handled, gone } = consumer(bench, ['m1', 'm2'])
      const { effects } = bench
      const failing = { ...later, transaction: 'own', independent: true } as const
      app.on('note.created', { name: 'first', ...failing }, ({ body }, { tx }) => effects.write(tx, `first ${body}`))
      app.on('note.created', { name: 'second', ...failing }, () => Promise.reject(new Error('no')))
      app.on('note.created', { name: 'third', ...failing }, ({ body }, { tx }) => effects.write(tx, `third ${body}`))
      await publish('m1', 'm2', 'm3')
      await app.start()
      await handled()
      const counts = await countsOf(effects, 'first m1', 'third m1', 'first m2', 'third m2', 'first m3', 'third m3')
      assert.deepEqual(Object.values(counts), [0, 0, 0, 0, 1, 1])
      assert.equal(await countParked(bench.store), 1)
      assert.deepEqual(gone(), ['m1', 'm2'])
      await app.stop()
    },
  }),
  engineCase({
    name: 'gone: of several handlers in one transaction, none takes effect if one fails on a message that is no longer in its queue',
    needs: ['queue'],
    async run(bench) {
      const { app, publish, handled, gone } = consumer(bench, ['m1', 'm3'])
      const { effects } = bench
      app.on('note.created', 'first', ({ body }, { tx }) => effects.write(tx, `first ${body}`))
      app.on('note.created', { name: 'second', ...later }, () => Promise.reject(new Error('no')))
      await publish('m1', 'm2', 'm3')
      await app.start()
      await handled()
      const counts = await countsOf(effects, 'first m1', 'first m2', 'first m3')
      assert.deepEqual(Object.values(counts), [0, 1, 0])
      assert.equal(await countParked(bench.store), 1)
      assert.deepEqual(gone(), ['m1', 'm3'])
      await app.stop()
    },
  }),
  engineCase({
    name: 'gone: handlers without a record do not take effect on what is no longer in its queue either',
    needs: ['queue'],
    async run(bench) {
      const { app, publish, handled, gone } = consumer(bench, ['m1'])
      const { effects } = bench
      const ran: unknown[] = []
      app.on('note.created', { name: 'least', delivery: 'at-least-once' }, ({ body }, { tx }) =>
        effects.write(tx, `least ${body}`),
      )
      app.on('note.created', { name: 'most', delivery: 'at-most-once' }, async ({ body }) => void ran.push(body))
      await publish('m1', 'm2')
      await app.start()
      await handled()
      await app.stop()
      assert.deepEqual(await countsOf(effects, 'least m1', 'least m2'), { 'least m1': 0, 'least m2': 1 })
      assert.deepEqual(ran, ['m2'])
      assert.deepEqual(gone(), ['m1'])
    },
  }),
  engineCase({
    name: 'gone: a duplicate that is no longer in its queue is only a duplicate, and what no handler can take is not kept twice',
    needs: ['queue'],
    async run(bench) {
      const { app, publish, handled, gone, events } = consumer(bench, ['m2', 'unreadable'])
      app.on('note.created', 'tag-note', ({ body }, { tx }) => bench.effects.write(tx, body as string))
      // As if another process, which knew the same message, had handled it meanwhile.
      await app.deliver({ id: 'm2', type: 'note.created', body: 'm2', source: 'queue:notes' })
      await publish('m1', 'm2')
      await bench.store.queue.send(undefined, 'notes', [{ message: unreadable, key: undefined }])
      await app.start()
      await handled()
      assert.deepEqual(await countsOf(bench.effects, 'm1', 'm2'), { m1: 1, m2: 1 })
      assert.equal(await countParked(bench.store), 0)
      assert.deepEqual(gone(), ['unreadable'])
      const duplicates = events.flatMap((event) => (event.kind === 'duplicate' ? event.key : []))
      assert.deepEqual(duplicates, ['m2'])
      await app.stop()
    },
  }),
  engineCase({
    name: 'gone: a message that the database does not remove, without calling that an error, is not gone: it waits, and that is reported',
    needs: ['queue'],
    async run(bench) {
      let isDenied = true
      const { queue } = bench.store
      const denying = overriding(bench.store, {
        queue: overriding(queue, {
          async remove(tx, name, tickets, still) {
            if (isDenied && tickets.length > 0) throw goneFrom(name)
            await queue.remove(tx, name, tickets, still)
          },
        }),
      })
      const { app, handled, gone, events } = open(denying, async () => {})
      app.on('note.created', 'tag-note', ({ body }, { tx }) => bench.effects.write(tx, body as string))
      await app.publish('note.created', 'm1', { id: 'm1' })
      await app.start()
      const stuck = await eventually(async () => events.find(({ kind }) => kind === 'stuck'), 'a stuck message')
      assert.ok(stuck.kind === 'stuck' && isJustonceError(stuck.error, 'STORE_DENIED'))
      assert.deepEqual(await countsOf(bench.effects, 'm1'), { m1: 0 })
      isDenied = false
      await handled()
      await app.stop()
      assert.deepEqual(await countsOf(bench.effects, 'm1'), { m1: 1 })
      assert.deepEqual(gone(), [])
    },
  }),
  engineCase({
    name: 'gone: a message that is held while its database is restored does not take effect beside the one that is published again',
    needs: ['queue', 'backup'],
    async run(bench) {
      const { effects, store, backUp } = bench
      let restore: (() => Promise<unknown>) | undefined
      const opened = open(store, async (taken) => {
        if (!taken.some(({ message }) => unpackMessage(message).type === 'note.tagged')) return
        await restore?.()
        restore = undefined
      })
      const { app, handled } = opened
      app.on('note.created', 'tag-note', async ({ body }, { tx, publish }) => {
        await effects.write(tx, body as string)
        await publish('note.tagged', body)
      })
      app.on('note.tagged', 'count-tags', ({ body }, { tx }) => effects.write(tx, `${body} tagged`))
      await app.publish('note.created', 'm1')
      restore = await present(backUp, 'backUp')()
      await app.start()
      await eventually(async () => (restore === undefined ? true : undefined), 'a restored database')
      await handled()
      await app.stop()
      assert.deepEqual(await countsOf(effects, 'm1', 'm1 tagged'), { m1: 1, 'm1 tagged': 1 })
      assert.equal(opened.gone().length, 1)
    },
  }),
  engineCase({
    name: 'gone: a message that a restore brings back right after its commit takes effect again, whatever the process remembers',
    needs: ['queue', 'backup'],
    async run({ effects, store, backUp }) {
      const { app, handled } = open(store, async () => {})
      app.on('note.created', 'tag-note', ({ body }, { tx }) => effects.write(tx, body as string))
      await app.publish('note.created', 'm1')
      const restore = await present(backUp, 'backUp')()
      await app.start()
      await handled()
      await restore()
      await handled()
      await app.stop()
      assert.deepEqual(await countsOf(effects, 'm1'), { m1: 1 })
    },
  }),
  engineCase({
    name: 'gone: if its database is restored between two transactions of a message, the handlers whose effects are gone run again',
    needs: ['queue', 'backup'],
    async run({ effects, store, backUp }) {
      let restore: (() => Promise<unknown>) | undefined
      let isDue = false
      const restoredInBetween = overriding(store, {
        async transaction(work, options) {
          if (isDue) {
            isDue = false
            await restore?.()
          }
          return await store.transaction(work, options)
        },
      })
      const { app, handled } = open(restoredInBetween, async () => {})
      for (const name of ['first', 'second'])
        app.on('note.created', { name, transaction: 'own' }, ({ body }, { tx }) => effects.write(tx, `${name} ${body}`))
      app.events.listen((event) => {
        if (event.kind === 'processed' && event.handler === 'first') isDue = restore !== undefined
      })
      await app.publish('note.created', 'm1')
      const restored = await present(backUp, 'backUp')()
      restore = async () => {
        await restored()
        restore = undefined
      }
      await app.start()
      await eventually(async () => (restore === undefined ? true : undefined), 'a restored database')
      await handled()
      await app.stop()
      assert.deepEqual(await countsOf(effects, 'first m1', 'second m1'), { 'first m1': 1, 'second m1': 1 })
    },
  }),
]

const unreadable = { envelope: Buffer.from('unreadable'), body: Buffer.from('unreadable') }

/** An app that reads a queue of its own store. `onTaken` is called before the app gets what was taken. */
function open(store: BenchStore, onTaken: (taken: readonly QueuedMessage[]) => Promise<void>) {
  const { queue } = store
  let inHand = 0
  const watched = overriding(store, {
    queue: overriding(queue, {
      async take(name, options) {
        const taken = await queue.take(name, options)
        inHand += taken.length
        await onTaken(taken)
        return taken
      },
    }),
  })
  const plain = queueTransport({ store: watched, queue: 'notes', pollMs: 10 })
  const transport = overriding(plain, {
    async settle(deliveries, settlement) {
      await plain.settle(deliveries, settlement)
      inHand -= deliveries.length
    },
    inside: overriding(plain.inside, {
      forget(deliveries) {
        plain.inside.forget(deliveries)
        inHand -= deliveries.length
      },
    }),
  })
  const batch = { max: 50, budgetMs: 60_000 }
  const app = justonce<BenchStore>({ store: watched, transport, concurrency: 1, batch })
  const events: JustonceEvent[] = []
  app.events.listen((event) => events.push(event))
  const isDone = async () => {
    const { ready, hidden } = await queue.count('notes')
    return ready + hidden + inHand === 0 ? true : undefined
  }
  return {
    app,
    events,
    /** Everything has left the queue, and whatever was taken is settled. */
    handled: () => eventually(isDone, 'an empty queue, with nothing in hand'),
    gone: () =>
      events.flatMap((event) => (event.kind === 'delivery-gone' ? (event.messageId ?? 'unreadable') : [])).sort(),
  }
}

/** The messages of these names vanish from the queue when they are taken for the first time. */
function consumer({ store }: Bench, vanishing: readonly string[]) {
  const left = new Set(vanishing)
  const opened = open(store, async (taken) => {
    const nameOf = ({ message }: QueuedMessage) => Buffer.from(message.body).toString().replaceAll('"', '')
    const tickets = taken.flatMap((each) => (left.delete(nameOf(each)) ? each.ticket : []))
    if (tickets.length > 0) await store.queue.remove(undefined, 'notes', tickets)
  })
  const publish = (...names: readonly string[]) =>
    opened.app.publishAll(names.map((name) => ({ type: 'note.created', body: name, id: name })))
  return { ...opened, publish }
}
