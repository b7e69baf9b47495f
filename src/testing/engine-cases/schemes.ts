import assert from 'node:assert/strict'
import { isJustonceError } from '../../errors/index.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually, failureOf } from '../waiting.ts'
import { engineCase, note } from './bench.ts'
import { aDay, madeAgo, timed } from './timed-ids.ts'

/** The way the time of a message is read must not change while records depend on it. */
export const schemeCases: readonly StoreCase[] = [
  engineCase({
    name: 'schemes: another way to read the time of ids is refused at the start, and nothing has run',
    needs: ['retention'],
    async run({ effects, app }) {
      const before = app()
      before.app.on('note.created', 'tag-note', ({ id }, { tx }) => effects.write(tx, id))
      await before.handle(note(madeAgo(aDay)))
      await before.stop()
      for (const options of [timed, { ids: 'ulid' } as const]) {
        const { app: notes, handle } = app(options)
        notes.on('note.created', 'tag-note', ({ id }, { tx }) => effects.write(tx, id))
        assert.ok(isJustonceError(await failureOf(handle(), 'another scheme'), 'BORN_CHANGED'))
      }
      const same = app()
      same.app.on('note.created', 'tag-note', ({ id }, { tx }) => effects.write(tx, id))
      await same.handle(note(madeAgo(aDay)))
      assert.equal(await effects.count(madeAgo(aDay)), 1)
    },
  }),
  engineCase({
    name: 'schemes: a handler that is renamed to get a time finds the records that were made without one',
    needs: ['retention'],
    async run({ store, effects, app }) {
      const [old, young] = [madeAgo(2 * aDay), madeAgo(aDay)]
      const before = app()
      before.app.on('note.created', 'tag-note', ({ id }, { tx }) => effects.write(tx, id))
      await before.handle(note(old))
      const after = app(timed)
      after.app.on('note.created', { name: 'tag-notes', formerly: ['tag-note'] }, ({ id }, { tx }) =>
        effects.write(tx, id),
      )
      await after.handle(note(old), note(young))
      assert.deepEqual([await effects.count(old), await effects.count(young)], [1, 1])
      // While both are running, what the new one has done counts for the old one, too.
      await before.handle(note(young))
      assert.equal(await effects.count(young), 1)
      await store.retention?.raise(aDay / 2)
      await after.handle(note(old))
      assert.equal(await effects.count(old), 1)
    },
  }),
  engineCase({
    name: 'schemes: a claim is given back under its former names, too, whether they have a time or not',
    needs: ['retention'],
    async run({ effects, app }) {
      const before = app()
      before.app.on('note.created', 'tag-note', () => {})
      await before.handle()
      await before.stop()
      const [other, id] = [madeAgo(aDay, 1), madeAgo(aDay, 2)]
      const after = app(timed)
      const retry = { backoff: () => 50 }
      let attempts = 0
      after.app.on('note.created', { name: 'tag-notes', formerly: ['tag-note'], retry }, async (message, { tx }) => {
        await effects.write(tx, message.id)
        if (message.id === id && ++attempts < 3) throw new Error('not yet')
      })
      await after.handle(note(other), note(id))
      await eventually(async () => ((await effects.count(id)) === 1 ? true : undefined), 'its effect')
      assert.deepEqual([attempts, await effects.count(other)], [3, 1])
    },
  }),
  engineCase({
    name: 'schemes: a former name keeps its own time, and another one is refused',
    needs: ['retention'],
    async run({ effects, app }) {
      const before = app(timed)
      before.app.on('note.created', 'tag-note', ({ id }, { tx }) => effects.write(tx, id))
      await before.handle(note(madeAgo(aDay)))
      const renamed = { name: 'tag-notes', formerly: ['tag-note'] }
      const another = app({ ids: 'ulid' })
      another.app.on('note.created', renamed, ({ id }, { tx }) => effects.write(tx, id))
      assert.ok(isJustonceError(await failureOf(another.handle(), 'another scheme'), 'BORN_CHANGED'))
      const after = app(timed)
      after.app.on('note.created', { ...renamed, name: 'tag-all-notes' }, ({ id }, { tx }) => effects.write(tx, id))
      await after.handle(note(madeAgo(aDay)))
      assert.equal(await effects.count(madeAgo(aDay)), 1)
    },
  }),
  engineCase({
    name: 'schemes: keys of identify() have no time unless it is said how to read it',
    needs: ['retention'],
    async run({ store, effects, app }) {
      await store.retention?.raise(10 * aDay)
      const identify = ({ body }: { body: unknown }) => (body as { order: string }).order
      const born = {
        name: 'placed',
        of: ({ body }: { body: unknown }) => new Date((body as { placed: string }).placed),
      }
      const { app: orders, handle } = app(timed)
      orders.on('order.placed', { name: 'timeless', identify }, (_, { tx }) => effects.write(tx, 'timeless'))
      orders.on('order.placed', { name: 'timed', identify, born }, (_, { tx }) => effects.write(tx, 'timed'))
      const body = { order: madeAgo(300 * aDay), placed: new Date(Date.now() - 300 * aDay).toISOString() }
      await handle({ id: madeAgo(0), type: 'order.placed', body })
      assert.deepEqual([await effects.count('timeless'), await effects.count('timed')], [1, 0])
      assert.deepEqual(
        (await store.parking.list()).map(({ handler, reason }) => [handler, reason]),
        [['timed', 'TOO_OLD_TO_KNOW']],
      )
    },
  }),
]
