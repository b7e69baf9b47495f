import assert from 'node:assert/strict'
import type { JustonceEvent } from '../../contracts/index.ts'
import { byContent } from '../../engine/intake/identify.ts'
import { countParked } from '../../operations/index.ts'
import { overriding } from '../overriding.ts'
import { recordOf } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually, gate, hold } from '../waiting.ts'
import { countsOf, engineCase, largestBatch, later, note } from './bench.ts'

const undoneReasons = (events: readonly JustonceEvent[]) =>
  events.flatMap((event) => (event.kind === 'rolled-back' ? [event.reason] : []))

export const identityCases: readonly StoreCase[] = [
  engineCase({
    name: 'identity: a message that comes many times, at once and later, takes effect once',
    async run({ effects, app }) {
      const { app: notes, handle, transport } = app()
      notes.on('note.created', 'tag-note', ({ id }, { tx }) => effects.write(tx, id))
      await handle(note('m1'), note('m2'), note('m1'), note('m1'))
      await handle(note('m2'), note('m1'))
      assert.deepEqual(await countsOf(effects, 'm1', 'm2'), { m1: 1, m2: 1 })
      assert.equal(transport.settled().length, 6)
    },
  }),
  engineCase({
    name: 'identity: two processes that get the same messages in different order leave each effect once',
    async run({ rival, effects, app }) {
      const messages = Array.from({ length: 30 }, (_, index) => note(`m${index}`, { key: `key ${index % 7}` }))
      const apps = [app(), app({ store: rival })]
      for (const { app: notes } of apps) notes.on('note.created', 'tag-note', ({ id }, { tx }) => effects.write(tx, id))
      await Promise.all(apps.map(({ handle }, index) => handle(...(index === 0 ? messages : messages.toReversed()))))
      const counts = await countsOf(effects, ...messages.map(({ id }) => id as string))
      assert.deepEqual(
        Object.values(counts),
        messages.map(() => 1),
      )
    },
  }),
  engineCase({
    name: 'identity: two processes whose handlers want the same rows in different order lose and double nothing',
    needs: ['row-locks', 'concurrent'],
    async run({ store, rival, effects, app }) {
      const apps = [app(), app({ store: rival })]
      const holdOne = [gate(), gate()] as const
      for (const [index, { app: notes }] of apps.entries())
        notes.on('note.created', { name: `tag-note-${index}`, ...later }, async ({ id, headers }, { tx }) => {
          await effects.lock?.(tx, headers.row ?? '')
          await effects.write(tx, id)
          // Each batch holds its first row before either requests the next, so neither can finish before they meet.
          holdOne[index]?.open()
          await Promise.all(holdOne.map(({ opened }) => opened))
        })
      const rows = ['a', 'b', 'c', 'd']
      const messages = apps.map((_, index) =>
        (index === 0 ? rows : rows.toReversed()).map((row) => note(`${index} ${row}`, { headers: { row } })),
      )
      await Promise.all(apps.map(({ handle }, index) => handle(...(messages[index] ?? []))))
      const reasons = new Set(apps.flatMap(({ events }) => undoneReasons(events)))
      assert.deepEqual([...reasons], ['conflict'], 'the two never met, or a handler was blamed for it')
      const counts = await countsOf(effects, ...messages.flat().map(({ id }) => id as string))
      assert.deepEqual(
        Object.values(counts),
        messages.flat().map(() => 1),
      )
      assert.equal(await countParked(store), 0)
    },
  }),
  engineCase({
    name: 'identity: waiting again and again for a row that another holds for long is no failure of the handler',
    needs: ['row-locks', 'concurrent'],
    async run({ store, rival, effects, app }) {
      const holder = await hold(rival, async (tx) => {
        await rival.inbox.claim(tx, [{ handler: 'another', key: 'm1', fingerprint: undefined }])
        await effects.lock?.(tx, 'a')
      })
      const { app: notes, handle, events } = app()
      const refused = gate()
      let refusals = 0
      notes.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, async ({ id }, { tx }) => {
        await effects.lock?.(tx, 'a').catch((error: unknown) => {
          if (++refusals === 2) refused.open()
          throw error
        })
        await effects.write(tx, id)
      })
      const handled = handle(note('m1'))
      await Promise.race([refused.opened, handled])
      await holder.commit()
      await handled
      assert.deepEqual([...new Set(undoneReasons(events))], ['conflict'])
      assert.equal(await effects.count('m1'), 1)
      assert.equal(await countParked(store), 0)
    },
  }),
  engineCase({
    name: 'identity: numbers that JavaScript cannot tell apart are still different content',
    async run({ store, effects, app }) {
      const { app: notes, handle } = app()
      notes.on('note.created', 'tag-note', ({ id }, { tx }) => effects.write(tx, id))
      notes.on('order.placed', { name: 'charge', identify: byContent }, (_, { tx }) => effects.write(tx, 'charged'))
      const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
      const numbers = ['9007199254740993', '9007199254740992', '1e400', 'null']
      for (const [place, text] of numbers.entries()) {
        const body = bytes(`{"n":${text}}`)
        await handle(note(`m${place >> 1}`, { body }), { type: 'order.placed', body }, { type: 'order.placed', body })
      }
      assert.deepEqual(await countsOf(effects, 'm0', 'm1', 'charged'), { m0: 1, m1: 1, charged: 4 })
      const rows = await store.parking.list()
      assert.deepEqual(
        rows.map(({ reason, messageId }) => [reason, messageId]),
        [
          ['KEY_REUSED', 'm0'],
          ['KEY_REUSED', 'm1'],
        ],
      )
    },
  }),
  engineCase({
    name: 'identity: the same id with different content is a dead letter, in this process and in another',
    async run({ store, rival, effects, app }) {
      const first = app()
      const second = app({ store: rival })
      for (const { app: notes } of [first, second])
        notes.on('note.created', 'tag-note', ({ body }, { tx }) => effects.write(tx, (body as { text: string }).text))
      await first.handle(note('m1', { body: { text: 'one' } }))
      await first.handle(note('m1', { body: { text: 'two' } }))
      await second.handle(note('m1', { body: { text: 'three' } }), note('m1', { body: { text: 'one' } }))
      await second.handle(note('m1', { body: { text: 'three' } }))
      assert.deepEqual(await countsOf(effects, 'one', 'two', 'three'), { one: 1, two: 0, three: 0 })
      const rows = await store.parking.list()
      assert.deepEqual(
        rows.map(({ state, reason }) => [state, reason]),
        [
          ['dead', 'KEY_REUSED'],
          ['dead', 'KEY_REUSED'],
        ],
      )
      assert.equal((await recordOf(store, { handler: 'tag-note', key: 'm1' }))?.state, 'processed')
    },
  }),
  engineCase({
    name: 'identity: a message that an operator has made the store forget runs again, although this process remembers it',
    async run({ rival, effects, app }) {
      const { app: notes, handle } = app()
      notes.on('note.created', 'tag-note', ({ id }, { tx }) => effects.write(tx, id))
      await handle(note('m1'), note('m2'))
      assert.equal(await rival.transaction((tx) => rival.inbox.forget(tx, [{ handler: 'tag-note', key: 'm1' }])), 1)
      // The next claim reports the new epoch.
      await handle(note('m3'))
      await handle(note('m1'), note('m2'))
      assert.deepEqual(await countsOf(effects, 'm1', 'm2', 'm3'), { m1: 2, m2: 1, m3: 1 })
    },
  }),
  engineCase({
    name: 'identity: a renamed handler knows what it did under its old name',
    async run({ rival, effects, app }) {
      const before = app()
      before.app.on('note.created', 'label-note', ({ id }, { tx }) => effects.write(tx, id))
      await before.handle(note('m1'), note('m2'))
      const after = app({ store: rival })
      after.app.on('note.created', { name: 'tag-note', formerly: ['label-note'] }, ({ id }, { tx }) =>
        effects.write(tx, id),
      )
      await after.handle(note('m2'), note('m1'), note('m3'))
      assert.deepEqual(await countsOf(effects, 'm1', 'm2', 'm3'), { m1: 1, m2: 1, m3: 1 })
    },
  }),
  engineCase({
    name: 'identity: an at-least-once handler has tx but no record, and runs every time',
    async run({ store, effects, app }) {
      const { app: notes, handle } = app()
      notes.on('note.created', { name: 'refresh', delivery: 'at-least-once' }, ({ id }, { tx }) =>
        effects.write(tx, id),
      )
      await handle(note('m1'))
      await handle(note('m1'))
      assert.equal(await effects.count('m1'), 2)
      assert.equal(await recordOf(store, { handler: 'refresh', key: 'm1' }), undefined)
    },
  }),
  engineCase({
    name: 'identity: a handler without a transaction is called outside, and tried again; what it publishes is stored once it succeeds',
    needs: ['queue'],
    async run({ store, app }) {
      const attempts: number[] = []
      const chained: string[] = []
      let open = 0
      const transaction: typeof store.transaction = async (...given) => {
        open++
        try {
          return await store.transaction(...given)
        } finally {
          open--
        }
      }
      // Nothing in the background, whose transactions would be counted as well.
      const { app: notes, handle } = app({ store: overriding(store, { transaction }), heartbeat: false })
      const openAtFirst: number[] = []
      notes.on(
        'note.created',
        { name: 'refresh', delivery: 'at-least-once', transaction: 'none', retry: { backoff: () => 0 } },
        async (_, { publish, attempt }) => {
          attempts.push(attempt)
          if (attempt === 1) openAtFirst.push(open)
          await publish('note.refreshed', {})
          if (attempt === 1) throw new Error('not yet')
        },
      )
      notes.on('note.refreshed', 'count', ({ id }) => void chained.push(id))
      await handle(note('m1'))
      await eventually(async () => (chained.length > 0 ? true : undefined), 'the published message')
      assert.deepEqual(attempts, [1, 2])
      assert.deepEqual(openAtFirst, [0])
      assert.equal(chained.length, 1)
      assert.equal(await recordOf(store, { handler: 'refresh', key: 'm1' }), undefined)
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'the end of its row')
    },
  }),
  engineCase({
    name: 'identity: an at-most-once handler runs once, even when it fails',
    async run({ store, effects, app }) {
      let runs = 0
      const { app: notes, handle, stop } = app()
      notes.on('note.created', { name: 'ping', delivery: 'at-most-once' }, async ({ id }, { tx }) => {
        runs++
        await effects.write(tx, id)
        if (id === 'm1') throw new Error('no')
      })
      await handle(note('m1'))
      await handle(note('m1'), note('m2'))
      await stop()
      assert.equal(runs, 2)
      assert.deepEqual(await countsOf(effects, 'm1', 'm2'), { m1: 0, m2: 1 })
      assert.equal(await countParked(store), 0)
    },
  }),
  engineCase({
    name: 'identity: in a batch, messages run in the order of their keys, and those of one key in the order of arrival',
    async run({ app }) {
      const { app: notes, handle, events, stop } = app()
      const order: string[] = []
      notes.on('note.created', 'tag-note', ({ id }) => void order.push(id))
      await handle(...['b1', 'c1', 'a1', 'b2', 'a2', 'c2'].map((id) => note(id, { key: id.charAt(0) })))
      await stop()
      assert.equal(largestBatch(events), 6)
      assert.deepEqual(order, ['a1', 'a2', 'b1', 'b2', 'c1', 'c2'])
    },
  }),
  engineCase({
    name: 'identity: a message that no handler can take becomes one dead letter, and its neighbours are processed',
    async run({ store, effects, app }) {
      const { app: notes, handle, transport } = app()
      notes.on('note.created', { name: 'tag-note', ...later }, ({ id }, { tx }) => effects.write(tx, id))
      const bad = [
        note('m2', { body: new TextEncoder().encode('{"open":') }),
        { type: 'note.created', body: { without: 'an id' } },
        note('m3', { type: 'no.such.type' }),
        note('m\0 4'),
        note('m5', { body: Uint8Array.of(0xff, 0xfe, 0) }),
      ]
      await handle(note('m1'), ...bad, note('m6'))
      await handle(...bad)
      assert.deepEqual(await countsOf(effects, 'm1', 'm6'), { m1: 1, m6: 1 })
      const rows = await store.parking.list()
      assert.deepEqual(rows.map(({ state, reason }) => `${state} ${reason}`).sort(), [
        'dead BODY_NOT_JSON',
        'dead BODY_NOT_JSON',
        'dead MESSAGE_ID_INVALID',
        'dead MESSAGE_ID_MISSING',
        'dead TYPE_UNKNOWN',
      ])
      assert.equal(transport.settled().length, 12)
    },
  }),
]
