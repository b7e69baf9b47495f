import assert from 'node:assert/strict'
import { justonce } from '../../app/justonce.ts'
import type { Publisher } from '../../contracts/index.ts'
import { operations } from '../../operations/index.ts'
import { type MessageToSend, memoryTransport } from '../../transports/memory/index.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { anHour, type BenchStore, engineCase, later, note } from './bench.ts'

/** A broker that is away: what goes there waits. */
const away: Publisher = {
  destination: 'events',
  publish: () => Promise.reject(new Error('the broker is away')),
  async close() {},
}

/** `note` in the headers is the business id; the first handler publishes and intends, the second fails. */
function open(store: BenchStore) {
  const transport = memoryTransport()
  const app = justonce<BenchStore>({
    ...{ store, from: transport, to: { events: away }, pollMs: 20, log: false, heartbeat: false },
    batch: { max: 50, budgetMs: 60_000 },
    businessId: 'X-Note',
  })
  app.on('note.created', 'publisher', async ({ id }, { publish, intend }) => {
    await publish('note.tagged', { of: id }, { id: `tagged ${id}` })
    await publish('note.reminded', { of: id }, { id: `reminded ${id}`, delayMs: anHour })
    await publish('note.moved', { of: id }, { id: `moved ${id}`, headers: { 'x-note': 'another note' } })
    await intend('mail.send', { of: id }, { delayMs: anHour })
  })
  app.on('note.broken', { name: 'broken', ...later }, async () => {
    throw new Error('no')
  })
  app.effect('mail.send', { run() {} })
  return {
    app,
    async handle(...messages: readonly MessageToSend[]) {
      transport.send(messages)
      await transport.idle()
    },
  }
}

const of = (name: string) => ({ headers: { 'x-note': name } })

/** What a message has caused, and how it is found by what the business calls it. */
export const causedCases: readonly StoreCase[] = [
  engineCase({
    name: 'caused: what the handlers of a message have published and intended and what has not left is in its story',
    needs: ['queue-list'],
    async run({ store, rival }) {
      const { app, handle } = open(store)
      await app.start()
      try {
        await handle(note('m1', of('note 7')), note('m2'), note('m3', of('note 7')))
        await app.publish('note.tagged', {}, { id: 'by nobody', delayMs: anHour })
        const { messages } = operations(rival)
        const story = await messages.story('m1')
        assert.deepEqual(
          story?.outgoing.map(({ id, type, destination, state }) => [id, type, destination, state]),
          [
            ['reminded m1', 'note.reminded', 'events', 'delayed'],
            ['tagged m1', 'note.tagged', 'events', 'waiting'],
            ['moved m1', 'note.moved', 'events', 'waiting'],
          ],
        )
        assert.ok(story?.outgoing.every(({ causedBy }) => causedBy?.handler === 'publisher' && causedBy.key === 'm1'))
        assert.equal(story?.isOutgoingComplete, true)
        assert.deepEqual(
          story?.intents.map(({ handler }) => handler),
          ['!mail.send'],
        )
        const tagged = await messages.story('tagged m1')
        assert.deepEqual([tagged?.causedBy?.key, tagged?.waitsFor?.destination], ['m1', 'events'])
        assert.deepEqual(tagged?.message?.body, { of: 'm1' })
        const reminded = await messages.story('reminded m1')
        assert.deepEqual([reminded?.causedBy?.key, reminded?.leavesAt instanceof Date], ['m1', true])
        assert.equal((await messages.story('by nobody'))?.causedBy, undefined)
        const [first] = await operations(rival).outgoing.list('events', { limit: 1 })
        const rest = await operations(rival).outgoing.list('events', { after: first?.place })
        assert.deepEqual(
          [first, ...rest].map((each) => each?.id).toSorted(),
          ['moved', 'tagged'].flatMap((what) => ['m1', 'm2', 'm3'].map((id) => `${what} ${id}`)),
        )
      } finally {
        await app.stop()
      }
    },
  }),
  engineCase({
    name: 'caused: messages that wait, are dead or are on their way out are found by what the business calls them',
    needs: ['queue-list'],
    async run({ store, rival }) {
      const { app, handle } = open(store)
      await app.start()
      try {
        await handle(
          note('m1', of('note 7')),
          note('m2', { type: 'note.broken', ...of('note 7') }),
          note('m3', { type: 'nobody.knows', ...of('note 7') }),
          note('m4', { type: 'note.broken', ...of('Note 7') }),
          note('m5', { type: 'note.broken' }),
        )
        await app.publish('note.tagged', {}, { id: 'later', delayMs: anHour, ...of('note 7') })
        const { messages, retries, letters, intents, outgoing } = operations(rival)
        const found = await eventually(async () => {
          const all = await messages.find({ businessId: 'note 7' })
          return all.length === 5 ? all : undefined
        }, 'five messages of the note')
        assert.deepEqual(found.map(({ messageId, state }) => `${messageId} ${state}`).toSorted(), [
          'later outgoing',
          'm2 waiting',
          'm3 dead',
          'reminded m1 outgoing',
          'tagged m1 outgoing',
        ])
        assert.ok(found.every(({ businessId }) => businessId === 'note 7'))
        const only = async (filter: { readonly state: 'dead' | 'outgoing' }) =>
          (await messages.find({ businessId: 'note 7', ...filter })).length
        assert.deepEqual([await only({ state: 'dead' }), await only({ state: 'outgoing' })], [1, 3])
        assert.deepEqual(
          (await retries.list({ businessId: 'note 7' })).map(({ messageId }) => messageId),
          ['m2'],
        )
        assert.deepEqual(
          (await letters.list({ businessId: 'note 7' })).map(({ messageId }) => messageId),
          ['m3'],
        )
        assert.deepEqual(
          (await intents.list({ businessId: 'note 7' })).map(({ causedBy }) => causedBy),
          ['m1'],
        )
        assert.equal((await outgoing.delayed({ businessId: 'note 7' })).length, 2)
        assert.equal((await messages.find({ businessId: 'another note' }))[0]?.messageId, 'moved m1')
        assert.equal((await messages.story('m2'))?.businessId, 'note 7')
      } finally {
        await app.stop()
      }
    },
  }),
]
