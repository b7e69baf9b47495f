import assert from 'node:assert/strict'
import type { JustonceEvent } from '../../contracts/index.ts'
import { present } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually, gate } from '../waiting.ts'
import { countsOf, engineCase, largestBatch, later, note } from './bench.ts'

const ids = ['m1', 'm2', 'm3', 'm4', 'm5']
const once = { m1: 1, m2: 1, m3: 1, m4: 1, m5: 1 }

/** Resolves for every caller when all of them are there. It is passed freely after that, because failed batches run again. */
function meeting(size: number): () => Promise<void> {
  const all = gate()
  let here = 0
  return async () => {
    if (++here === size) all.open()
    await all.opened
  }
}

function codes(events: readonly JustonceEvent[]): readonly string[] {
  return events.flatMap((event) => (event.kind === 'warning' ? [event.code] : []))
}

/** Messages of one transaction that run at the same time. */
export const interleaveCases: readonly StoreCase[] = [
  engineCase({
    name: 'interleave: messages of a batch run at the same time, and each takes effect once',
    needs: ['interleaves'],
    async run({ effects, app }) {
      const { app: notes, handle, events, stop } = app()
      const allHere = meeting(ids.length)
      notes.on('note.created', { name: 'tag-note', interleave: true }, async ({ id }, { tx }) => {
        await allHere()
        await effects.write(tx, id)
        await effects.write(tx, `again ${id}`)
      })
      await handle(...ids.map((id) => note(id)), note('m1'))
      await handle(...ids.map((id) => note(id)))
      await stop()
      assert.equal(largestBatch(events), 6)
      assert.deepEqual(await countsOf(effects, ...ids), once)
      assert.deepEqual(Object.values(await countsOf(effects, ...ids.map((id) => `again ${id}`))), [1, 1, 1, 1, 1])
    },
  }),
  engineCase({
    name: 'interleave: messages of one key, and handlers of one message, run one after the other',
    needs: ['interleaves'],
    async run({ effects, app }) {
      const { app: notes, handle, stop } = app()
      const steps: string[] = []
      const bothKeys = meeting(2)
      for (const name of ['first', 'second'])
        notes.on('note.created', { name, interleave: true }, async ({ id, key }, { tx }) => {
          if (id === 'a1' || id === 'b1') await bothKeys()
          steps.push(`${key}: ${name} ${id} begins`)
          await effects.write(tx, `${name} ${id}`)
          steps.push(`${key}: ${name} ${id} ends`)
        })
      const sent = ['a1', 'b1', 'a2', 'b2']
      await handle(...sent.map((id) => note(id, { key: id.slice(0, 1) })))
      await stop()
      for (const key of ['a', 'b']) {
        const ofKey = steps.filter((step) => step.startsWith(`${key}:`))
        const calls = [1, 2].flatMap((nth) => ['first', 'second'].map((name) => `${key}: ${name} ${key}${nth}`))
        assert.deepEqual(
          ofKey,
          calls.flatMap((call) => [`${call} begins`, `${call} ends`]),
        )
      }
    },
  }),
  engineCase({
    name: 'interleave: messages of a handler without the option run one after the other, and so do messages that it shares',
    needs: ['interleaves'],
    async run({ effects, app }) {
      const { app: notes, handle, stop } = app()
      let running = 0
      let most = 0
      const counted = (name: string) => async (id: string, tx: unknown) => {
        most = Math.max(most, ++running)
        await effects.write(tx, `${name} ${id}`)
        running--
      }
      const [first, second] = [counted('first'), counted('second')]
      notes.on('note.created', { name: 'first', interleave: true }, ({ id }, { tx }) => first(id, tx))
      notes.on('note.created', { name: 'second' }, ({ id }, { tx }) => second(id, tx))
      await handle(...ids.map((id) => note(id)))
      await stop()
      assert.equal(most, 1)
      assert.deepEqual(Object.values(await countsOf(effects, ...ids.map((id) => `second ${id}`))), [1, 1, 1, 1, 1])
    },
  }),
  engineCase({
    name: 'interleave: only the message that fails alone has failed, and once',
    needs: ['interleaves'],
    async run({ store, effects, app }) {
      const { app: notes, handle, events, stop } = app()
      const allHere = meeting(ids.length)
      notes.on('note.created', { name: 'tag-note', interleave: true, ...later }, async ({ id }, { tx, publish }) => {
        await allHere()
        await publish('note.tagged', { id })
        await effects.write(tx, id)
        if (id === 'm2' || id === 'm4') throw new Error(`never ${id}`)
        await effects.write(tx, `again ${id}`)
      })
      notes.on('note.tagged', 'hear', ({ body }, { tx }) => effects.write(tx, `heard ${(body as { id: string }).id}`))
      await handle(...ids.map((id) => note(id)))
      await stop()
      assert.equal(largestBatch(events), 5)
      assert.deepEqual(await countsOf(effects, ...ids), { ...once, m2: 0, m4: 0 })
      const rows = await store.parking.list()
      assert.deepEqual(rows.map(({ key, attempts, errors }) => [key, attempts, JSON.parse(errors).length]).sort(), [
        ['m2', 1, 1],
        ['m4', 1, 1],
      ])
    },
  }),
  engineCase({
    name: 'interleave: a database error that one message swallows is not blamed on the others',
    needs: ['interleaves', 'bad-write', 'poisoning'],
    async run({ store, effects, app }) {
      const { app: notes, handle, stop } = app()
      const allHere = meeting(ids.length)
      const writeBadly = present(effects.writeBadly, 'effects.writeBadly')
      notes.on('note.created', { name: 'tag-note', interleave: true, ...later }, async ({ id }, { tx }) => {
        await allHere()
        if (id === 'm1') await writeBadly(tx).catch(() => {})
        else await effects.write(tx, id)
      })
      await handle(...ids.map((id) => note(id)))
      await stop()
      assert.deepEqual(await countsOf(effects, ...ids), { ...once, m1: 0 })
      assert.deepEqual(
        (await store.parking.list()).map(({ key, attempts }) => [key, attempts]),
        [['m1', 1]],
      )
    },
  }),
  engineCase({
    name: 'interleave: only the message that hangs is given up, and the others take effect once',
    needs: ['interleaves'],
    async run({ store, effects, app }) {
      const { app: notes, handle, stop } = app()
      const options = { name: 'tag-note', interleave: true, timeoutMs: 1_000, ...later }
      notes.on('note.created', options, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        if (id === 'm3') await new Promise(() => {})
      })
      await handle(...ids.map((id) => note(id)))
      await stop()
      assert.deepEqual(await countsOf(effects, ...ids), { ...once, m3: 0 })
      const rows = (await store.parking.list()).map(({ key, attempts, reason }) => [key, attempts, reason])
      assert.deepEqual(rows, [['m3', 1, 'HANDLER_TIMEOUT']])
    },
  }),
  engineCase({
    name: 'interleave: a tx that is used after its handler has settled is refused while the others still run',
    needs: ['interleaves', 'revocable'],
    async run({ effects, app }) {
      const { app: notes, handle, events, stop } = app()
      const settled = gate()
      let late: unknown
      notes.on('note.created', { name: 'tag-note', interleave: true }, async ({ id }, { tx, afterCommit }) => {
        await effects.write(tx, id)
        if (id !== 'm1') return await settled.opened
        afterCommit(() => {})
        // By then the call of this handler has been settled for a while, and the others have not.
        setTimeout(async () => {
          late = await Promise.resolve(effects.write(tx, 'late')).catch((error: unknown) => error)
          settled.open()
        }, 50)
      })
      await handle(...ids.map((id) => note(id)))
      await stop()
      assert.equal((late as { code?: unknown }).code, 'TX_CLOSED')
      assert.deepEqual(await countsOf(effects, ...ids, 'late'), { ...once, late: 0 })
      assert.ok(events.some((event) => event.kind === 'late-call' && event.handler === 'tag-note'))
    },
  }),
  engineCase({
    name: 'interleave: messages of a handler that uses savepoints run one after the other instead, and one warning says so',
    needs: ['interleaves', 'savepoint-names'],
    async run({ store, effects, app }) {
      const { app: notes, handle, events, stop } = app()
      const savepoints = present(effects.savepoints, 'effects.savepoints')
      notes.on('note.created', { name: 'tag-note', interleave: true, ...later }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        await savepoints.make(tx, 'sp')
        await effects.write(tx, `undone ${id}`)
        await savepoints.undo(tx, 'sp')
      })
      await handle(...ids.slice(0, 3).map((id) => note(id)))
      await handle(...ids.slice(3).map((id) => note(id)))
      await stop()
      assert.deepEqual(await countsOf(effects, ...ids), once)
      assert.deepEqual(Object.values(await countsOf(effects, ...ids.map((id) => `undone ${id}`))), [0, 0, 0, 0, 0])
      assert.equal((await store.parking.list()).length, 0)
      assert.deepEqual(codes(events), ['NOT_INTERLEAVABLE'])
    },
  }),
  engineCase({
    name: 'interleave: what the batch publishes is sent in the order of its messages, whichever was faster',
    needs: ['interleaves', 'queue'],
    async run({ effects, app }) {
      const { app: notes, handle, stop } = app()
      const turns = ids.map(() => gate())
      const heard: string[] = []
      notes.on('note.created', { name: 'tag-note', interleave: true }, async ({ id }, { tx, publish }) => {
        const place = ids.indexOf(id)
        // The last one is the first to publish.
        await turns[place + 1]?.opened
        await publish('note.tagged', { id }, { key: 'all' })
        turns[place]?.open()
        await effects.write(tx, id)
      })
      notes.on('note.tagged', 'hear', ({ body }) => void heard.push((body as { id: string }).id))
      await handle(...ids.map((id) => note(id)))
      await eventually(async () => (heard.length < ids.length ? undefined : true), 'what was published')
      await stop()
      assert.deepEqual(await countsOf(effects, ...ids), once)
      assert.deepEqual(heard, ids)
    },
  }),
]
