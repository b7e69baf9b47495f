import assert from 'node:assert/strict'
import { countParked } from '../../operations/index.ts'
import { memoryTransport } from '../../transports/memory/index.ts'
import { recordOf } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { type BenchApp, engineCase, later, note } from './bench.ts'
import { aDay, madeAgo, raiseHorizon, timed } from './timed-ids.ts'

const ana = { by: 'ana', why: 'it has not run' } as const

/** Records are removed, and still no message runs twice or is lost. */
export const retentionCases: readonly StoreCase[] = [
  engineCase({
    name: 'too old: a message below the horizon is a dead letter and does not run, however often it comes',
    needs: ['retention'],
    async run(bench) {
      const { store, effects, app } = bench
      await raiseHorizon(bench, 10 * aDay)
      const [old, young] = [madeAgo(20 * aDay), madeAgo(2 * aDay)]
      const { app: notes, handle, transport } = app(timed)
      notes.on('note.created', 'tag-note', ({ id }, { tx }) => effects.write(tx, id))
      await handle(note(old), note(young), note('no-time-at-all'))
      await handle(note(old))
      assert.deepEqual([await effects.count(old), await effects.count(young)], [0, 1])
      assert.equal(await effects.count('no-time-at-all'), 1)
      assert.deepEqual(
        (await store.parking.list()).map(({ messageId, state, reason }) => [messageId, state, reason]),
        [[old, 'dead', 'TOO_OLD_TO_KNOW']],
      )
      assert.equal(transport.settled().length, 4)
    },
  }),
  engineCase({
    name: "too old: with tooOld 'skip' nothing is recorded, and an event says that it has expired",
    needs: ['retention'],
    async run(bench) {
      const { store, effects, app } = bench
      await raiseHorizon(bench, 10 * aDay)
      const old = madeAgo(20 * aDay)
      const { app: notes, handle, events, transport } = app({ ...timed, retention: { days: 10, tooOld: 'skip' } })
      notes.on('note.created', 'tag-note', ({ id }, { tx }) => effects.write(tx, id))
      await handle(note(old))
      assert.equal(await effects.count(old), 0)
      assert.equal(await recordOf(store, { handler: 'tag-note', key: old }), undefined)
      assert.equal(await countParked(store), 0)
      assert.deepEqual(
        events.flatMap((event) => (event.kind === 'expired' ? event.key : [])),
        [old],
      )
      assert.equal(transport.settled().length, 1)
    },
  }),
  engineCase({
    name: 'too old: a redrive runs it once, and a copy that comes later is a dead letter again',
    needs: ['retention'],
    async run(bench) {
      const { store, effects, app } = bench
      await raiseHorizon(bench, 10 * aDay)
      const old = madeAgo(20 * aDay)
      const { app: notes, handle } = app(timed)
      notes.on('note.created', 'tag-note', ({ id }, { tx }) => effects.write(tx, id))
      await handle(note(old))
      assert.deepEqual(await notes.operations.letters.preview('all'), {
        letters: 1,
        wouldRun: { 'tag-note': 1 },
        alreadyDone: {},
        tooOld: 1,
        expired: 0,
      })
      await notes.operations.letters.redrive({ handler: 'tag-note', messageId: old }, ana)
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'the redrive')
      assert.equal(await effects.count(old), 1)
      await handle(note(old))
      assert.equal(await effects.count(old), 1)
      assert.equal(await countParked(store, { state: 'dead' }), 1)
    },
  }),
  engineCase({
    name: 'too old: however many there are, the handler is not blamed, and its other messages run',
    needs: ['retention'],
    async run(bench) {
      await raiseHorizon(bench, 10 * aDay)
      const { app: notes, handle, events } = bench.app(timed)
      const old = Array.from({ length: 30 }, (_, number) => note(madeAgo(20 * aDay, number)))
      notes.on('note.created', { name: 'tag-note', breaker: { after: 3, pauseMs: 60_000 } }, ({ id }, { tx }) =>
        bench.effects.write(tx, id),
      )
      await handle(...old)
      await handle(note(madeAgo(0)))
      assert.equal(await bench.effects.count(madeAgo(0)), 1)
      assert.ok(!events.some(({ kind }) => kind === 'breaker-opened'))
    },
  }),
  engineCase({
    name: 'too old: all different contents of one id are kept, and copies add nothing',
    needs: ['retention'],
    async run(bench) {
      const { store, effects, app } = bench
      await raiseHorizon(bench, 10 * aDay)
      const id = madeAgo(20 * aDay)
      const { app: notes, handle } = app(timed)
      notes.on('note.created', 'tag-note', (message, { tx }) => effects.write(tx, message.id))
      const saying = (text: string) => note(id, { body: { text } })
      await handle(saying('a'), saying('b'), saying('a'))
      await handle(saying('c'))
      const letters = (await store.parking.list()).map(({ message }) => Buffer.from(message.body).toString())
      assert.deepEqual(
        letters.sort(),
        ['a', 'b', 'c'].map((text) => JSON.stringify({ text })),
      )
      assert.equal(await effects.count(id), 0)
    },
  }),
  engineCase({
    name: 'retention: a parked message whose record is gone is handled once, and a late copy does not run',
    needs: ['retention'],
    async run(bench) {
      const { store, effects, app } = bench
      const id = madeAgo(9 * aDay)
      let isBroken = true
      const { app: notes, handle } = app(timed)
      const retry = { attempts: 1_000, backoff: () => (isBroken ? 300 : 0) }
      notes.on('note.created', { name: 'tag-note', retry, breaker: false }, async (message, { tx }) => {
        await effects.write(tx, message.id)
        if (isBroken) throw new Error('not yet')
      })
      await handle(note(id))
      const horizon = await raiseHorizon(bench, aDay)
      await store.retention?.remove({ bornBefore: horizon, timelessBefore: undefined, budgetMs: 1_000 })
      await handle(note(id))
      assert.equal(await effects.count(id), 0)
      // It is no longer known to be a duplicate. But it does not run while the first is parked, even if an operator wants it to.
      const [copy] = await store.parking.list({ reason: 'TOO_OLD_TO_KNOW' })
      assert.ok(copy !== undefined)
      await store.transaction((tx) => store.parking.change(tx, [{ ...copy, kind: 'again', delayMs: 0 }]))
      await eventually(async () => ((await countParked(store)) === 1 ? true : undefined), 'the end of the copy')
      assert.equal(await effects.count(id), 0)
      isBroken = false
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'the retry')
      assert.equal(await effects.count(id), 1)
      await handle(note(id))
      assert.equal(await effects.count(id), 1)
      assert.deepEqual(
        (await store.parking.list()).map(({ messageId, reason }) => [messageId, reason]),
        [[id, 'TOO_OLD_TO_KNOW']],
      )
    },
  }),
  engineCase({
    name: 'retention: a started app removes what is old and keeps the rest, and no copy runs again',
    needs: ['retention'],
    async run({ store, effects, app }) {
      const ids = [madeAgo(30 * aDay), madeAgo(2 * aDay), 'no-time-at-all']
      const first = app(timed)
      tagNotes(first, effects)
      await first.handle(...ids.map((id) => note(id)))
      // Otherwise the second might not be elected for longer than a test can wait.
      await first.stop()
      const second = app({ ...timed, retention: { days: 10 } })
      tagNotes(second, effects)
      await second.handle()
      const gone = async () =>
        (await recordOf(store, { handler: 'tag-note', key: ids[0] as string })) ? undefined : true
      await eventually(gone, 'the removal')
      const records = await store.inbox.find(ids.map((key) => ({ handler: 'tag-note', key })))
      assert.deepEqual(
        records.map((record) => record?.state),
        [undefined, 'processed', 'processed'],
      )
      const keepsAll = app(timed)
      tagNotes(keepsAll, effects)
      for (const each of [second, keepsAll]) await each.handle(...ids.map((id) => note(id)))
      for (const id of ids) assert.equal(await effects.count(id), 1, id)
    },
  }),
  engineCase({
    name: 'retention: what may be a surprise later is reported at the start',
    needs: ['retention'],
    async run({ app }) {
      const memory = memoryTransport()
      const transport = { ...memory, redeliversForMs: async () => 14 * aDay }
      const warningsOf = async (opened: BenchApp): Promise<readonly string[]> => {
        opened.app.on('note.created', { name: 'tag-note', ...later }, () => {})
        await opened.handle()
        return opened.events.flatMap((event) => (event.kind === 'warning' ? event.code : []))
      }
      assert.deepEqual(await warningsOf(app({ retention: { days: 10 } })), ['RETENTION_WITHOUT_TIME'])
      const timeless = { days: 20, iAcceptReruns: true } as const
      assert.deepEqual(await warningsOf(app({ retention: { days: 20, timeless } })), [])
      assert.deepEqual(await warningsOf(app({ transport, retention: { days: 20, timeless } })), [])
      const short = { days: 20, timeless: { ...timeless, days: 13 } }
      assert.deepEqual(await warningsOf(app({ transport, retention: short })), ['RETENTION_TOO_SHORT'])
      assert.deepEqual(await warningsOf(app({ transport })), [])
    },
  }),
]

function tagNotes({ app }: BenchApp, effects: { write(tx: unknown, name: string): Promise<void> }): void {
  app.on('note.created', 'tag-note', ({ id }, { tx }) => effects.write(tx, id))
}
