import assert from 'node:assert/strict'
import { countParked } from '../../operations/index.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { anHour, type Bench, type BenchStore, countsOf, engineCase, later, makeDue, note } from './bench.ts'
import { aDay, madeAgo, raiseHorizon, timed } from './timed-ids.ts'

const renamed = { name: 'tag-note', formerly: ['label-note'] } as const
const ana = { by: 'ana', why: 'it is fixed' } as const

/** What the records say under both names, the new one first. */
async function statesOf({ inbox }: BenchStore, key: string): Promise<readonly (string | undefined)[]> {
  const records = await inbox.find([renamed.name, ...renamed.formerly].map((handler) => ({ handler, key })))
  return records.map((record) => record?.state)
}

async function parkedUnderTheOldName({ app, effects }: Bench): Promise<void> {
  const before = app()
  before.app.on('note.created', { name: 'label-note', ...later }, async ({ id }, { tx }) => {
    await effects.write(tx, id)
    throw new Error('not yet')
  })
  await before.handle(note('m1'))
  await before.stop()
}

/** A renamed handler claims under its old names, too. No record may claim something that has not happened. */
export const renameCases: readonly StoreCase[] = [
  engineCase({
    name: 'renames: a copy of what is parked under the old name leaves no record that says processed',
    async run(bench) {
      const { store, rival, effects, app } = bench
      await parkedUnderTheOldName(bench)
      const after = app({ store: rival })
      after.app.on('note.created', renamed, ({ id }, { tx }) => effects.write(tx, id))
      await after.handle(note('m1'))
      assert.deepEqual(await statesOf(store, 'm1'), [undefined, 'parked'])
      assert.equal(await effects.count('m1'), 0)
      await makeDue(store)
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'its row')
      await after.handle(note('m1'))
      assert.equal(await effects.count('m1'), 1)
      assert.equal((await statesOf(store, 'm1'))[1], 'processed')
    },
  }),
  engineCase({
    name: 'renames: a message that fails under the new name is parked under the old one, too, and then processed under both',
    async run({ store, rival, effects, app }) {
      let isBroken = true
      const before = app()
      before.app.on('note.created', 'label-note', ({ id }, { tx }) => effects.write(tx, id))
      const after = app({ store: rival })
      after.app.on('note.created', { ...renamed, ...later }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        if (isBroken) throw new Error('not yet')
      })
      await after.handle(note('m1'))
      await before.handle(note('m1'))
      assert.deepEqual(await statesOf(store, 'm1'), ['parked', 'parked'])
      isBroken = false
      await makeDue(store)
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'its row')
      await before.handle(note('m1'))
      assert.deepEqual(await statesOf(store, 'm1'), ['processed', 'processed'])
      assert.equal(await effects.count('m1'), 1)
    },
  }),
  engineCase({
    name: 'renames: a message that is discarded or expired is so under both names',
    async run({ store, effects, app }) {
      const { app: notes, handle } = app()
      notes.on('note.created', { ...renamed, retry: { attempts: 1 } }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        throw new Error('never')
      })
      await handle(note('m1'), note('late', { expiresAt: new Date(Date.now() - anHour) }))
      assert.deepEqual(await statesOf(store, 'late'), ['expired', 'expired'])
      assert.equal(await notes.operations.letters.discard('all', ana), 1)
      assert.deepEqual(await statesOf(store, 'm1'), ['discarded', 'discarded'])
    },
  }),
  engineCase({
    name: 'renames: a message that is forgotten under one name runs again, whatever name it was recorded under',
    async run({ rival, effects, app }) {
      const before = app()
      before.app.on('note.created', 'label-note', ({ id }, { tx }) => effects.write(tx, id))
      await before.handle(note('old'))
      await before.stop()
      const after = app({ store: rival })
      after.app.on('note.created', renamed, ({ id }, { tx }) => effects.write(tx, id))
      await after.handle(note('new'))
      assert.equal(await after.app.operations.records.forget({ handler: 'tag-note', key: 'old' }, ana), true)
      assert.equal(await after.app.operations.records.forget({ handler: 'label-note', key: 'new' }, ana), true)
      await after.handle(note('old'), note('new'))
      assert.deepEqual(await countsOf(effects, 'old', 'new'), { old: 2, new: 2 })
    },
  }),
  engineCase({
    name: 'renames: messages of an ordered key stay behind what waits under the old name, in order',
    async run({ store, rival, effects, app }) {
      const inOrder = { ordered: { by: 'key' }, ...later } as const
      const noteOfKey = (id: string) => note(id, { key: 'k' })
      const before = app()
      before.app.on('note.created', { name: 'label-note', ...inOrder }, () => {
        throw new Error('not yet')
      })
      await before.handle(noteOfKey('m1'), noteOfKey('m2'))
      await before.stop()
      const after = app({ store: rival })
      const done: string[] = []
      after.app.on('note.created', { ...renamed, ...inOrder }, async ({ id }, { tx, afterCommit }) => {
        await effects.write(tx, id)
        afterCommit(() => done.push(id))
      })
      after.app.on('note.seen', { name: 'count-note', retry: { backoff: () => 0 } }, (_, { attempt, afterCommit }) => {
        if (attempt === 1) throw new Error('not yet')
        afterCommit(() => done.push('another'))
      })
      await after.handle(noteOfKey('m3'), noteOfKey('m4'))
      await after.handle(note('another', { type: 'note.seen' }))
      // Once that one is retried, everything due before it has run.
      await eventually(async () => (done.includes('another') ? true : undefined), 'the retry of another')
      await makeDue(store)
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'the rows')
      await after.handle(noteOfKey('m5'), noteOfKey('m1'), noteOfKey('m3'))
      await after.stop()
      assert.deepEqual(done, ['another', 'm1', 'm2', 'm3', 'm4', 'm5'])
    },
  }),
  engineCase({
    name: 'renames: different content under a key of the old name leaves the message that was there first alone',
    async run({ store, rival, effects, app }) {
      const before = app()
      before.app.on('note.created', 'label-note', ({ id }, { tx }) => effects.write(tx, id))
      await before.handle(note('m1'))
      const after = app({ store: rival })
      after.app.on('note.created', renamed, ({ id }, { tx }) => effects.write(tx, id))
      await after.handle(note('m1', { body: { id: 'another' } }))
      await after.handle(note('m1'))
      const letters = await store.parking.list()
      assert.deepEqual(
        letters.map(({ reason }) => reason),
        ['KEY_REUSED'],
      )
      assert.equal(await effects.count('m1'), 1)
    },
  }),
  engineCase({
    name: 'renames: a message that is too old to know under the new name is not processed under the old one, and can be redriven',
    needs: ['retention'],
    async run(bench) {
      const { store, effects, app } = bench
      const before = app()
      before.app.on('note.created', 'label-note', ({ id }, { tx }) => effects.write(tx, id))
      await before.handle()
      await before.stop()
      await raiseHorizon(bench, 10 * aDay)
      const id = madeAgo(20 * aDay)
      const after = app(timed)
      after.app.on('note.created', renamed, (message, { tx }) => effects.write(tx, message.id))
      await after.handle(note(id))
      assert.deepEqual(
        (await store.parking.list()).map(({ reason }) => reason),
        ['TOO_OLD_TO_KNOW'],
      )
      assert.deepEqual(await statesOf(store, id), [undefined, undefined])
      await after.app.operations.letters.redrive('all', ana)
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'its letter')
      assert.equal(await effects.count(id), 1)
    },
  }),
]
