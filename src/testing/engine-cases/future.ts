import assert from 'node:assert/strict'
import type { StoredParkedMessage } from '../../contracts/index.ts'
import { PermanentError } from '../../errors/index.ts'
import { countParked } from '../../operations/index.ts'
import { parkedMessage, recordOf } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { anHour, engineCase, later, makeDue, note } from './bench.ts'
import { aDay, clockAhead, madeAgo, raiseHorizon, timed } from './timed-ids.ts'

/** Made three days in the future. By a clock that is five days ahead, that was two days ago. */
const fromTheFuture = (): string => madeAgo(-3 * aDay)
const whenItsTimeHasCome = { ...timed, clock: clockAhead(5 * aDay) }

/** Ids that claim to be from the future: a clock is wrong, here or there. */
export const futureCases: readonly StoreCase[] = [
  engineCase({
    name: 'future: a message whose id is from tomorrow waits until then, and copies add nothing',
    needs: ['retention'],
    async run({ store, effects, app }) {
      const id = fromTheFuture()
      const { app: notes, handle, transport } = app(timed)
      notes.on('note.created', 'tag-note', (message, { tx }) => effects.write(tx, message.id))
      await handle(note(id), note('m1'))
      await handle(note(id))
      assert.deepEqual([await effects.count(id), await effects.count('m1')], [0, 1])
      const rows = await store.parking.list()
      assert.deepEqual(
        rows.map(({ messageId, state, reason, attempts }) => [messageId, state, reason, attempts]),
        [[id, 'waiting', 'ID_FROM_THE_FUTURE', 0]],
      )
      // At most an hour: perhaps the clock here is wrong and soon corrected, or another process takes the message.
      const waitsMs = (rows[0]?.nextAt.getTime() ?? 0) - Date.now()
      assert.ok(waitsMs > anHour / 2 && waitsMs < 1.5 * anHour, `it waits for ${waitsMs} ms`)
      await makeDue(store)
      await eventually(async () => {
        const [row] = await store.parking.list()
        return row !== undefined && row.nextAt.getTime() > Date.now() + anHour / 2 ? true : undefined
      }, 'another look, and another wait')
      assert.equal((await store.parking.list())[0]?.attempts, 0)
      assert.equal(await effects.count(id), 0)
      assert.equal(await recordOf(store, { handler: 'tag-note', key: id }), undefined)
      assert.equal(transport.settled().length, 3)
    },
  }),
  engineCase({
    name: 'future: all different contents of one id are kept, and only the first of them runs when its time has come',
    needs: ['retention'],
    async run(bench) {
      const { store, effects, app } = bench
      const id = fromTheFuture()
      const opened = [app(timed), app(whenItsTimeHasCome)] as const
      for (const { app: notes } of opened)
        notes.on('note.created', 'tag-note', ({ body }, { tx }) => effects.write(tx, (body as { text: string }).text))
      const [early, due] = opened
      const saying = (text: string) => note(id, { body: { text } })
      await early.handle(saying('a'), saying('b'), saying('a'))
      await early.handle(saying('c'))
      await early.stop()
      const reasons = async () => (await store.parking.list()).map(({ reason }) => reason)
      assert.deepEqual(await reasons(), Array(3).fill('ID_FROM_THE_FUTURE'))
      await due.handle()
      await makeDue(bench.store)
      const areDecided = async () => (await countParked(store, { reason: 'ID_FROM_THE_FUTURE' })) === 0
      await eventually(async () => ((await areDecided()) ? true : undefined), 'the end of their wait')
      assert.deepEqual(await reasons(), ['KEY_REUSED', 'KEY_REUSED'])
      const ran = await Promise.all(['a', 'b', 'c'].map((text) => effects.count(text)))
      assert.equal(
        ran.reduce((sum, count) => sum + count),
        1,
      )
    },
  }),
  engineCase({
    name: 'future: a message that becomes a dead letter after its time has come is discarded with its record',
    needs: ['retention'],
    async run(bench) {
      const { store, app } = bench
      const id = fromTheFuture()
      const opened = [app(timed), app(whenItsTimeHasCome)] as const
      for (const { app: notes } of opened)
        notes.on('note.created', 'tag-note', () => {
          throw new PermanentError('never')
        })
      const [early, due] = opened
      await early.handle(note(id))
      await early.stop()
      await due.handle()
      await makeDue(bench.store)
      await eventually(
        async () => ((await countParked(store, { state: 'dead' })) === 1 ? true : undefined),
        'its death',
      )
      assert.equal((await recordOf(store, { handler: 'tag-note', key: id }))?.state, 'parked')
      await due.app.operations.letters.discard('all', { by: 'ana' })
      assert.equal((await recordOf(store, { handler: 'tag-note', key: id }))?.state, 'discarded')
    },
  }),
  engineCase({
    name: 'future: discarding a copy that was parked without a claim does not discard the message that was parked with one',
    needs: ['retention'],
    async run({ store, app }) {
      const { app: notes, handle } = app()
      notes.on('note.created', { name: 'tag-note', ...later }, () => {
        throw new Error('not yet')
      })
      await handle(note('m1'))
      const [{ message }] = (await store.parking.list()) as [StoredParkedMessage]
      const copy = { handler: 'tag-note', state: 'dead', reason: 'TOO_OLD_TO_KNOW', message } as const
      await store.transaction((tx) => store.parking.park(tx, [parkedMessage('m1#unclaimed0a', copy)]))
      await notes.operations.letters.discard({ reason: 'TOO_OLD_TO_KNOW' }, { by: 'ana' })
      assert.equal((await recordOf(store, { handler: 'tag-note', key: 'm1' }))?.state, 'parked')
    },
  }),
  engineCase({
    name: 'future: when its time has come it runs once, whichever copy is first',
    needs: ['retention'],
    async run(bench) {
      const { store, effects, app } = bench
      const id = fromTheFuture()
      for (const isCopyFirst of [true, false]) {
        const name = isCopyFirst ? 'copy-first' : 'row-first'
        const early = app(timed)
        early.app.on('note.created', name, (message, { tx }) => effects.write(tx, `${name} ${message.id}`))
        await early.handle(note(id))
        await early.stop()
        const due = app(whenItsTimeHasCome)
        due.app.on('note.created', name, (message, { tx }) => effects.write(tx, `${name} ${message.id}`))
        if (isCopyFirst) await due.handle(note(id))
        else await due.handle()
        await makeDue(bench.store)
        await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'its attempt')
        await due.handle(note(id))
        assert.equal(await effects.count(`${name} ${id}`), 1)
        assert.equal((await recordOf(store, { handler: name, key: id }))?.state, 'processed')
      }
    },
  }),
  engineCase({
    name: 'future: each of its handlers runs once and in order, even if a copy comes before the rows are due',
    needs: ['retention'],
    async run(bench) {
      const { store, effects, app } = bench
      const id = fromTheFuture()
      const ran: string[] = []
      const opened = [app(timed), app(whenItsTimeHasCome)] as const
      for (const { app: notes } of opened)
        for (const name of ['first', 'second'])
          notes.on('note.created', name, (_, { tx }) => {
            ran.push(name)
            return effects.write(tx, name)
          })
      const [early, due] = opened
      await early.handle(note(id))
      await early.stop()
      assert.equal(await countParked(store, { reason: 'ID_FROM_THE_FUTURE' }), 2)
      await due.handle(note(id))
      await makeDue(bench.store)
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'the end of both rows')
      assert.deepEqual([await effects.count('first'), await effects.count('second')], [1, 1])
      assert.deepEqual(ran, ['first', 'second'])
    },
  }),
  ...[
    {
      name: 'future: a handler that keeps order runs it when its time has come, and then what waited behind it',
      copies: 0,
    },
    {
      name: 'future: it keeps its place in the order of its key, even if a copy was parked behind a later message',
      copies: 1,
    },
  ].map(({ name, copies }) =>
    engineCase({
      name,
      needs: ['retention'],
      async run(bench) {
        const { store, effects, app } = bench
        const [id, next] = [fromTheFuture(), madeAgo(0)]
        const ran: string[] = []
        const opened = [app(timed), app(whenItsTimeHasCome)] as const
        for (const { app: notes } of opened)
          notes.on('note.created', { name: 'tag-note', ordered: { by: 'key' } }, (message, { tx }) => {
            ran.push(message.id)
            return effects.write(tx, message.id)
          })
        const [early, due] = opened
        await early.handle(note(id, { key: 'k' }), note(next, { key: 'k' }))
        await early.stop()
        await due.handle(...Array.from({ length: copies }, () => note(id, { key: 'k' })))
        assert.deepEqual(ran, [])
        await makeDue(bench.store)
        await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'all rows')
        assert.deepEqual(ran, [id, next])
        assert.deepEqual([await effects.count(id), await effects.count(next)], [1, 1])
        assert.equal((await recordOf(store, { handler: 'tag-note', key: id }))?.state, 'processed')
      },
    }),
  ),
  engineCase({
    name: 'future: a copy that waits or fails before the row is due leaves everything to the row',
    needs: ['retention'],
    async run(bench) {
      const { store, effects, app } = bench
      const [waits, fails] = [madeAgo(-3 * aDay, 1), madeAgo(-3 * aDay, 2)]
      let isBroken = true
      const opened = [app(timed), app(whenItsTimeHasCome)] as const
      for (const { app: notes } of opened)
        notes.on(
          'note.created',
          { name: 'tag-note', ordered: { by: 'key' }, retry: { backoff: () => anHour } },
          async ({ id }, { tx }) => {
            await effects.write(tx, id)
            if (isBroken) throw new Error('not yet')
          },
        )
      const [early, due] = opened
      await early.handle(note(waits, { key: 'k' }), note(fails))
      await early.stop()
      // The first one finds its own row before it in the order of its key.
      await due.handle(note(waits, { key: 'k' }), note(fails))
      assert.deepEqual([await effects.count(waits), await effects.count(fails)], [0, 0])
      isBroken = false
      await makeDue(bench.store)
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'the end of both rows')
      await due.handle(note(waits, { key: 'k' }), note(fails))
      assert.deepEqual([await effects.count(waits), await effects.count(fails)], [1, 1])
      for (const key of [waits, fails])
        assert.equal((await recordOf(store, { handler: 'tag-note', key }))?.state, 'processed')
    },
  }),
  engineCase({
    name: "future: what is too old when its row is finally taken is a dead letter, also with tooOld 'skip'",
    needs: ['retention'],
    async run(bench) {
      const { store, effects, app } = bench
      const id = madeAgo(15 * aDay)
      const behind = app({ ...timed, clock: clockAhead(-20 * aDay) })
      const right = app({ ...timed, retention: { days: 10, tooOld: 'skip' } })
      for (const { app: notes } of [behind, right])
        notes.on('note.created', 'tag-note', (message, { tx }) => effects.write(tx, message.id))
      await behind.handle(note(id))
      await behind.stop()
      await raiseHorizon(bench, 10 * aDay)
      await makeDue(bench.store)
      await right.handle()
      const isDead = async () => ((await countParked(store, { state: 'waiting' })) === 0 ? true : undefined)
      await eventually(isDead, 'the end of its wait')
      assert.deepEqual(
        (await store.parking.list()).map(({ messageId, state, reason }) => [messageId, state, reason]),
        [[id, 'dead', 'TOO_OLD_TO_KNOW']],
      )
      assert.equal(await effects.count(id), 0)
    },
  }),
  engineCase({
    name: 'future: a process whose clock is behind neither loses nor repeats what others have parked or done',
    needs: ['retention'],
    async run(bench) {
      const { store, effects, app } = bench
      // To a clock that is ten days behind, all of them are from the future.
      const [done, failing, waiting] = [madeAgo(aDay, 1), madeAgo(aDay, 2), madeAgo(-3 * aDay, 3)]
      let isBroken = true
      const opened = [app(timed), app({ ...timed, clock: clockAhead(-10 * aDay) }), app(timed)] as const
      const [right, behind, rightAgain] = opened
      for (const { app: notes } of opened) {
        notes.on('note.created', { name: 'tag-note', ...later }, async ({ id }, { tx }) => {
          await effects.write(tx, id)
          if (id === failing && isBroken) throw new Error('not yet')
        })
      }
      await right.handle(note(done), note(failing), note(waiting))
      await right.stop()
      isBroken = false
      await behind.handle(note(done), note(failing), note(waiting))
      await makeDue(bench.store)
      await eventually(async () => ((await effects.count(failing)) === 1 ? true : undefined), 'the retry')
      const isPutOff = async () => {
        const [row] = await store.parking.list({ messageId: waiting })
        return row !== undefined && row.nextAt.getTime() > Date.now() + anHour / 2
      }
      await eventually(async () => ((await isPutOff()) ? true : undefined), 'another wait')
      assert.deepEqual(
        [await effects.count(done), await effects.count(failing), await effects.count(waiting)],
        [1, 1, 0],
      )
      for (const key of [done, failing])
        assert.equal((await recordOf(store, { handler: 'tag-note', key }))?.state, 'processed')
      await behind.stop()
      // The duplicates that were too early for the wrong clock wait for a correct one, and are settled then.
      await rightAgain.handle()
      await makeDue(bench.store)
      const left = async () => (await store.parking.list()).map(({ messageId }) => messageId)
      await eventually(async () => ((await left()).length === 1 ? true : undefined), 'the end of the copies')
      assert.deepEqual(await left(), [waiting])
      assert.deepEqual(
        [await effects.count(done), await effects.count(failing), await effects.count(waiting)],
        [1, 1, 0],
      )
    },
  }),
]
