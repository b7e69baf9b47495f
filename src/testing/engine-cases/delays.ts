import assert from 'node:assert/strict'
import { justonce } from '../../app/justonce.ts'
import type { Publisher } from '../../contracts/index.ts'
import { queueTransport } from '../../transports/queue/index.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { anHour, type BenchStore, engineCase, note } from './bench.ts'

const shortly = 60

/** Counts what reaches the broker, and when. */
function recorder() {
  const sent: string[] = []
  const publisher: Publisher = {
    destination: 'events',
    async publish(messages) {
      sent.push(...messages.map(({ id }) => id))
      return messages.map(() => ({ kind: 'sent' }))
    },
    async close() {},
  }
  const arrived = (count: number) =>
    eventually(() => Promise.resolve(sent.length >= count ? sent : undefined), `${count} messages at the broker`)
  return { sent, publisher, arrived }
}

function open(store: BenchStore, publisher: Publisher) {
  return justonce<BenchStore>({ store, to: { events: publisher }, pollMs: 20, log: false })
}

export const delayCases: readonly StoreCase[] = [
  engineCase({
    name: 'delay: a delayed message leaves when it is due and not before, and those that are not due stay',
    needs: ['queue'],
    async run({ store }) {
      const { sent, publisher, arrived } = recorder()
      const app = open(store, publisher)
      const week = await app.publish('note.reminded', { n: 1 }, { delayMs: anHour * 24 * 7 })
      const at = await app.publish('note.reminded', { n: 2 }, { at: new Date(Date.now() + anHour) })
      await app.publish('note.reminded', { n: 3 }, { delayMs: shortly, id: 'soon' })
      await app.start()
      try {
        await app.publish('note.reminded', { n: 4 }, { at: new Date(0), id: 'past' })
        await arrived(2)
        assert.deepEqual([...sent].sort(), ['past', 'soon'])
        const waiting = await app.operations.outgoing.delayed()
        assert.deepEqual(waiting.map(({ id }) => id).sort(), [week, at].sort())
        assert.deepEqual(await app.operations.retries.list(), [])
      } finally {
        await app.stop()
      }
    },
  }),
  engineCase({
    name: 'delay: many delayed messages leave once each, whoever moves them, and with what they were published with',
    needs: ['queue'],
    async run({ store, rival }) {
      const { sent, publisher, arrived } = recorder()
      const apps = [store, rival].map((each) => open(each, publisher))
      const ids = Array.from({ length: 60 }, (_, index) => `m${index}`)
      await apps[0]?.publishAll(ids.map((id) => ({ type: 'note.reminded', body: { id }, id, key: id, delayMs: 1 })))
      await Promise.all(apps.map((app) => app.start()))
      await arrived(ids.length)
      await Promise.all(apps.map((app) => app.stop()))
      assert.deepEqual([...sent].sort(), [...ids].sort())
      assert.deepEqual(await store.parking.list({ kind: 'any' }), [])
    },
  }),
  engineCase({
    name: 'delay: messages of different types may have one id, and none replaces another',
    needs: ['queue'],
    async run({ store }) {
      const { sent, publisher, arrived } = recorder()
      const app = open(store, publisher)
      await app.publish('note.reminded', 1, { id: 'm1', delayMs: 1 })
      await app.publish('note.closed', 2, { id: 'm1', delayMs: 1 })
      await app.start()
      await arrived(2)
      await app.stop()
      assert.deepEqual(sent, ['m1', 'm1'])
    },
  }),
  engineCase({
    name: 'delay: a cancelled message never leaves, and cancelling says whether it did',
    needs: ['queue'],
    async run({ store }) {
      const { sent, publisher, arrived } = recorder()
      const app = open(store, publisher)
      await app.publish('note.reminded', 1, { id: 'cancelled', delayMs: shortly })
      await app.publish('note.reminded', 2, { id: 'kept', delayMs: shortly * 2 })
      assert.equal(await app.cancel('cancelled'), true)
      assert.equal(await app.cancel('cancelled'), false)
      await app.start()
      await arrived(1)
      assert.equal(await app.cancel('kept'), false)
      await app.stop()
      assert.deepEqual(sent, ['kept'])
    },
  }),
  engineCase({
    name: 'delay: it is delayed, and cancelled, with the transaction that says so, or not at all',
    needs: ['queue'],
    async run({ store, transaction }) {
      const app = open(store, recorder().publisher)
      const listed = async () => (await app.operations.outgoing.delayed()).map(({ id }) => id)
      const rolledBack = new Error('rolled back')
      const rollingBack = async (work: (tx: unknown) => Promise<unknown>) => {
        const failing = async (tx: unknown) => {
          await work(tx)
          throw rolledBack
        }
        await assert.rejects(transaction(failing), rolledBack)
      }
      await rollingBack((tx) => app.publish('note.reminded', 1, { tx, id: 'never', delayMs: anHour }))
      assert.deepEqual(await listed(), [])
      await transaction((tx) => app.publish('note.reminded', 1, { tx, id: 'm1', delayMs: anHour }))
      assert.deepEqual(await listed(), ['m1'])
      await rollingBack((tx) => app.cancel('m1', { tx }))
      assert.deepEqual(await listed(), ['m1'])
      assert.equal(await transaction((tx) => app.cancel('m1', { tx })), true)
      assert.deepEqual(await listed(), [])
      await app.stop()
    },
  }),
  engineCase({
    name: 'delay: what a handler delays is stored if it succeeds, and only then',
    needs: ['queue'],
    async run({ store, app: openBench }) {
      const bench = openBench({ concurrency: 1 })
      bench.app.on('note.reminded', 'remind', () => {})
      const retry = { backoff: () => anHour } as const
      bench.app.on('note.created', { name: 'delay', retry }, async ({ id }, { publish }) => {
        await publish('note.reminded', { id }, { id: `reminder ${id}`, delayMs: anHour })
        if (id === 'bad') throw new Error('no')
      })
      await bench.handle(note('m1'), note('bad'), note('m2'))
      await bench.stop()
      const delayed = await store.parking.list({ kind: 'delayed' })
      assert.deepEqual(delayed.map(({ messageId }) => messageId).sort(), ['reminder m1', 'reminder m2'])
    },
  }),
  engineCase({
    name: 'delay: a delayed message for a queue of the store is handled once when it is due',
    needs: ['queue'],
    async run({ store, effects }) {
      const transport = queueTransport({ store, queue: 'reminders', pollMs: 20 })
      const app = justonce<BenchStore>({ store, transport, pollMs: 20, log: false })
      app.on('note.reminded', 'remind', ({ id }, { tx }) => effects.write(tx, id))
      await app.publish('note.reminded', {}, { id: 'later', delayMs: anHour })
      await app.publish('note.reminded', {}, { id: 'soon', delayMs: shortly })
      const [first] = await app.operations.outgoing.delayed()
      assert.equal(first?.destination, 'queue:reminders')
      await app.start()
      await eventually(async () => ((await effects.count('soon')) === 1 ? true : undefined), 'the effect')
      await app.stop()
      assert.equal(await effects.count('later'), 0)
      assert.equal(await effects.count('soon'), 1)
    },
  }),
]
