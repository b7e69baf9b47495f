import assert from 'node:assert/strict'
import { PermanentError } from '../../errors/index.ts'
import { countParked } from '../../operations/index.ts'
import { recordOf } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { countsOf, engineCase, isAllSent, largestBatch, later, note } from './bench.ts'

const parkedKey = (key: string) => ({ handler: 'tag-note', key })

const circle: { self?: unknown } = {}
circle.self = circle

/** What an untyped transport may return where text is expected, and text that no database accepts. */
const odd: readonly unknown[] = [
  ...[7, true, { a: 1 }, ['a'], 'a\0b', '\ud800', 7n, null, Symbol('odd'), new Date(0), new Date(Number.NaN)],
  ...[Object.create(null), circle, () => 'text'],
]

export const failureCases: readonly StoreCase[] = [
  engineCase({
    name: 'failure: ids, types and keys that are not text, or that no database takes, hide no dead letter',
    async run({ store, effects, app }) {
      const { app: notes, handle } = app()
      notes.on('note.created', { name: 'tag-note', retry: { attempts: 1 }, breaker: false }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        throw new Error('no')
      })
      const strange = odd.flatMap((value) => [
        note(value as string, { body: { a: 1 } }),
        note('odd type', { type: value as string }),
        { type: value as string, body: { value: String(typeof value) } },
      ])
      await handle(note('m1'), ...strange, note('m2'))
      const letters = await notes.operations.letters.list({}, { limit: 1_000 })
      const good = letters.filter(({ handler }) => handler === 'tag-note')
      assert.deepEqual(good.map(({ key }) => key).sort(), ['m1', 'm2'])
      assert.equal(letters.length, await countParked(store, { state: 'dead' }))
      assert.ok(letters.length > odd.length, `${letters.length} letters`)
      for (const { key, handler } of letters) assert.ok(await notes.operations.letters.get({ key, handler }), key)
    },
  }),
  engineCase({
    name: 'failure: keys, sources, times and headers that a lax transport lets through affect no other message',
    async run({ store, effects, app }) {
      const { app: notes, handle, events } = app()
      notes.on('note.created', { name: 'tag-note', ordered: { by: 'key' } }, ({ id }, { tx }) => effects.write(tx, id))
      const noText = odd.filter((value) => typeof value !== 'string' && value !== null)
      const strange = noText.flatMap((value, index) => [
        note(`key ${index}`, { key: value as string }),
        note(`source ${index}`, { source: value as string }),
        note(`header ${index}`, { headers: { odd: value as string } }),
      ])
      const absent = ['key', 'source', 'sentAt', 'expiresAt'].map((name) => note(`no ${name}`, { [name]: null }))
      const noTimes = [
        note('sent', { sentAt: 'yesterday' as never }),
        note('expires', { expiresAt: Symbol('soon') as never }),
      ]
      await handle(note('m1'), ...strange, ...absent, ...noTimes, note('m2'))
      for (const { id } of [note('m1'), ...absent, ...noTimes, note('m2')])
        assert.equal(await effects.count(id as string), 1, `${id}`)
      const letters = await notes.operations.letters.list({}, { limit: 1_000 })
      assert.deepEqual(
        letters.map(({ messageId }) => messageId as string).sort(),
        strange.map(({ id }) => id as string).sort(),
      )
      assert.deepEqual([...new Set(letters.map(({ reason }) => reason))].sort(), [
        'ENVELOPE_INVALID',
        'HEADERS_INVALID',
      ])
      assert.equal(await countParked(store, { state: 'waiting' }), 0)
      assert.equal(events.filter(({ kind }) => kind === 'rolled-back').length, 0)
    },
  }),
  engineCase({
    name: 'failure: its effects are gone, its record is parked, its attempt is counted, and its neighbours are processed',
    async run({ store, effects, app }) {
      const { app: notes, handle, events, transport, stop } = app()
      notes.on('note.created', { name: 'tag-note', ...later }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        if (id === 'm3') throw new Error('not this one')
      })
      await handle(note('m1'), note('m2'), note('m3'), note('m4'), note('m5'))
      await stop()
      assert.equal(largestBatch(events), 5)
      assert.deepEqual(await countsOf(effects, 'm1', 'm2', 'm3', 'm4', 'm5'), { m1: 1, m2: 1, m3: 0, m4: 1, m5: 1 })
      assert.equal((await recordOf(store, parkedKey('m3')))?.state, 'parked')
      const rows = await store.parking.list()
      assert.deepEqual(
        rows.map(({ key, state, attempts, reason }) => [key, state, attempts, reason]),
        [['m3', 'waiting', 1, 'HANDLER_FAILED']],
      )
      assert.match(rows[0]?.errors ?? '', /not this one/)
      assert.equal(transport.settled().length, 5)
    },
  }),
  engineCase({
    name: 'failure: a duplicate of a parked message is acknowledged and does not run, wherever it arrives',
    async run({ store, rival, effects, app }) {
      let runs = 0
      const first = app()
      const second = app({ store: rival })
      for (const { app: notes } of [first, second])
        notes.on('note.created', { name: 'tag-note', ...later }, async ({ id }, { tx }) => {
          runs++
          await effects.write(tx, id)
          throw new Error('no')
        })
      await first.handle(note('m1'))
      const before = runs
      await first.handle(note('m1'), note('m1'))
      await second.handle(note('m1'))
      assert.equal(runs, before)
      assert.equal(await effects.count('m1'), 0)
      assert.deepEqual(
        (await store.parking.list()).map(({ key, attempts }) => [key, attempts]),
        [['m1', 1]],
      )
      assert.equal(first.transport.settled().length, 3)
      assert.equal(second.transport.settled().length, 1)
    },
  }),
  engineCase({
    name: 'failure: a later attempt that succeeds leaves one effect, a processed record and nothing parked',
    async run({ store, effects, app }) {
      let runs = 0
      const { app: notes, handle, transport } = app()
      notes.on('note.created', { name: 'tag-note', retry: { backoff: () => 0 } }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        if (++runs < 4) throw new Error('not yet')
      })
      await handle(note('m1'))
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'the retry')
      assert.equal(await effects.count('m1'), 1)
      assert.equal((await recordOf(store, parkedKey('m1')))?.state, 'processed')
      const before = runs
      await handle(note('m1'))
      assert.equal(runs, before)
      assert.equal(transport.settled().length, 2)
    },
  }),
  engineCase({
    name: 'failure: when its attempts are used up it is a dead letter, and a PermanentError makes it one at once',
    async run({ store, effects, app }) {
      const { app: notes, handle } = app()
      const retry = { attempts: 3, backoff: () => 0 }
      notes.on('note.created', { name: 'tag-note', retry }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        throw id === 'm2' ? new PermanentError('never') : new Error('again')
      })
      await handle(note('m1'), note('m2'))
      const dead = async () => ((await countParked(store, { state: 'dead' })) === 2 ? true : undefined)
      await eventually(dead, 'the last attempt')
      const rows = await store.parking.list()
      assert.deepEqual(rows.map(({ key, state, attempts }) => [key, state, attempts]).sort(), [
        ['m1', 'dead', 3],
        ['m2', 'dead', 1],
      ])
      assert.deepEqual(await countsOf(effects, 'm1', 'm2'), { m1: 0, m2: 0 })
    },
  }),
  engineCase({
    name: 'failure: a swallowed database error affects only its own message in a batch of five',
    needs: ['bad-write', 'poisoning'],
    async run({ store, effects, app }) {
      const { app: notes, handle, events, stop } = app()
      notes.on('note.created', { name: 'tag-note', ...later }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        if (id === 'm3') await effects.writeBadly?.(tx).catch(() => {})
      })
      await handle(note('m1'), note('m2'), note('m3'), note('m4'), note('m5'))
      await stop()
      assert.equal(largestBatch(events), 5)
      assert.deepEqual(await countsOf(effects, 'm1', 'm2', 'm3', 'm4', 'm5'), { m1: 1, m2: 1, m3: 0, m4: 1, m5: 1 })
      assert.deepEqual(
        (await store.parking.list()).map(({ key }) => key),
        ['m3'],
      )
    },
  }),
  engineCase({
    name: 'failure: an error at the commit is the failure of the message that caused it',
    needs: ['deferred-failure'],
    async run({ store, effects, app }) {
      const { app: notes, handle } = app()
      notes.on('note.created', { name: 'tag-note', ...later }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        if (id === 'm2') await effects.writeFailingAtCommit?.(tx)
      })
      await handle(note('m1'), note('m2'), note('m3'))
      assert.deepEqual(await countsOf(effects, 'm1', 'm2', 'm3'), { m1: 1, m2: 0, m3: 1 })
      assert.deepEqual(
        (await store.parking.list()).map(({ key }) => key),
        ['m2'],
      )
    },
  }),
  engineCase({
    name: 'failure: text that databases refuse, in a body, an error or a header, affects no neighbour',
    async run({ store, effects, app }) {
      const { app: notes, handle } = app()
      notes.on('note.created', { name: 'tag-note', ...later }, async ({ id, body }, { tx }) => {
        await effects.write(tx, id)
        if (id === 'm2') throw new Error(`cannot take ${(body as { text: string }).text}`)
      })
      const text = 'NUL \0 and lone \ud800'
      await handle(note('m1'), note('m2', { body: { text }, headers: { note: text } }), note('m3'))
      assert.deepEqual(await countsOf(effects, 'm1', 'm2', 'm3'), { m1: 1, m2: 0, m3: 1 })
      const [row] = await store.parking.list()
      assert.equal(row?.key, 'm2')
      assert.equal(JSON.parse(new TextDecoder().decode(row.message.body)).text, text)
    },
  }),
  engineCase({
    name: 'failure: a batch handler is split until the culprit is alone',
    async run({ store, effects, app }) {
      const { app: notes, handle } = app()
      notes.onBatch('note.created', { name: 'tag-note', ...later }, async (messages, { tx }) => {
        for (const { id } of messages) await effects.write(tx, id)
        if (messages.some(({ id }) => id === 'm3')) throw new Error('not this one')
      })
      await handle(...['m1', 'm2', 'm3', 'm4', 'm5'].map((id) => note(id)))
      assert.deepEqual(await countsOf(effects, 'm1', 'm2', 'm3', 'm4', 'm5'), { m1: 1, m2: 1, m3: 0, m4: 1, m5: 1 })
      assert.deepEqual(
        (await store.parking.list()).map(({ key, attempts }) => [key, attempts]),
        [['m3', 1]],
      )
    },
  }),
  engineCase({
    name: 'failure: a result or a published body that cannot be encoded affects only its own message',
    needs: ['queue'],
    async run({ store, effects, app }) {
      const { app: notes, handle } = app()
      notes.on('note.created', { name: 'tag-note', keepResult: true, ...later }, async ({ id }, { tx, publish }) => {
        await effects.write(tx, id)
        if (id === 'm2') return 12n
        if (id === 'm3') await publish('note.tagged', { big: 12n })
        return { id }
      })
      await handle(...['m1', 'm2', 'm3', 'm4'].map((id) => note(id)))
      assert.deepEqual(await countsOf(effects, 'm1', 'm2', 'm3', 'm4'), { m1: 1, m2: 0, m3: 0, m4: 1 })
      assert.deepEqual((await store.parking.list()).map(({ key }) => key).sort(), ['m2', 'm3'])
      assert.equal((await recordOf(store, parkedKey('m1')))?.result, '{"id":"m1"}')
      assert.ok(await isAllSent(store))
    },
  }),
]
