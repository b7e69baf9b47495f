import assert from 'node:assert/strict'
import { packMessage } from '../../encoding/packed-message.ts'
import { none } from '../../engine/recovery/backoff.ts'
import { JustonceError } from '../../errors/index.ts'
import { countParked } from '../../operations/index.ts'
import { findRedrives } from '../../operations/redrives.ts'
import { parkedMessage, recordOf } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually, failureOf, gate } from '../waiting.ts'
import { type Bench, type BenchApp, countsOf, engineCase, note } from './bench.ts'

/** Dead after the first failure, and never stopped by a breaker. */
const atOnce = { retry: { backoff: none }, breaker: false } as const

const ana = { by: 'ana', why: 'it is fixed' } as const

/** Dead letters get another chance: what has succeeded never runs again, and any process can continue the redrive. */
export const redriveCases: readonly StoreCase[] = [
  engineCase({
    name: 'redrive: only what has not succeeded runs, each effect once',
    async run({ store, effects, app }) {
      const names = ['Ha', 'Hb', 'Hc', 'Hd']
      let isBroken = true
      const { app: notes, handle } = app()
      for (const name of names)
        notes.on('note.created', { name, ...atOnce }, async (_, { tx }) => {
          await effects.write(tx, name)
          if (name === 'Hc' && isBroken) throw new Error('not yet')
        })
      await handle(note('m1'))
      assert.deepEqual(await countsOf(effects, ...names), { Ha: 1, Hb: 1, Hc: 0, Hd: 0 })
      const [letter] = await notes.operations.letters.list()
      assert.equal(letter?.handler, 'Hc')
      assert.deepEqual(await notes.operations.letters.preview('all'), {
        letters: 1,
        wouldRun: { Hc: 1, Hd: 1 },
        alreadyDone: { Ha: 1, Hb: 1 },
        tooOld: 0,
        expired: 0,
      })
      isBroken = false
      await notes.operations.letters.redrive('all', ana)
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'the last handler')
      await handle(note('m1'))
      assert.deepEqual(await countsOf(effects, ...names), { Ha: 1, Hb: 1, Hc: 1, Hd: 1 })
    },
  }),
  engineCase({
    name: 'redrive: a letter that was too old to know is looked up, and does not run again if its record exists after all',
    async run({ store, effects, app }) {
      const { app: notes, handle, events } = app()
      notes.on('note.created', { name: 'tag-note', ...atOnce }, ({ id }, { tx }) => effects.write(tx, id))
      // The first copy was still being handled when the second one was parked.
      const parked = (key: string) =>
        parkedMessage(key, {
          handler: 'tag-note',
          state: 'dead',
          reason: 'TOO_OLD_TO_KNOW',
          message: packMessage({
            ...note(key),
            source: 'notes',
            body: Buffer.from(JSON.stringify(note(key).body)),
            headers: {},
          }),
        })
      await store.transaction((tx) => store.parking.park(tx, [parked('known'), parked('unknown')]))
      await handle(note('known'))
      await notes.operations.letters.redrive('all', ana)
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'the letters')
      assert.deepEqual(await countsOf(effects, 'known', 'unknown'), { known: 1, unknown: 1 })
      // Events come a little after the rows are gone.
      const isKnown = () => events.some((event) => event.kind === 'duplicate' && event.key === 'known')
      await eventually(async () => (isKnown() ? true : undefined), 'the event of the known one')
    },
  }),
  engineCase({
    name: 'redrive: what a handler throws is its own failure, even with a code that belongs to the engine',
    async run({ store, effects, app }) {
      let isBroken = true
      const { app: notes, handle } = app()
      notes.on('note.created', { name: 'tag-note', ...atOnce }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        if (isBroken) throw new JustonceError('TOO_OLD_TO_KNOW', { message: 'from a once() inside' })
      })
      await handle(note('m1'))
      const record = await recordOf(store, { handler: 'tag-note', key: 'm1' })
      assert.equal(record?.state, 'parked')
      isBroken = false
      await notes.operations.letters.redrive('all', ana)
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'the letter')
      assert.deepEqual(await countsOf(effects, 'm1'), { m1: 1 })
    },
  }),
  engineCase({
    name: 'redrive: a letter of a type that is not handled here is left to an app that handles it, even if such types are ignored',
    async run({ store, app }) {
      const before = app()
      before.app.on('note.changed', 'tag-note', () => {})
      await before.handle(note('theirs', { type: 'note.deleted' }), note('ours'))
      await before.stop()
      const { app: notes, handle, events } = app({ unknownTypes: 'ignore' })
      notes.on('note.created', 'tag-note', () => {})
      await handle()
      await notes.operations.letters.redrive('all', ana)
      // Both become due at the same moment.
      const isDone = () => events.some((event) => event.kind === 'processed' && event.key === 'ours')
      await eventually(async () => (isDone() ? true : undefined), 'our letter')
      const letters = await store.parking.list()
      assert.deepEqual(
        letters.map(({ messageId, reason, state, attempts, begun }) => [messageId, reason, state, attempts, begun]),
        [['theirs', 'TYPE_UNKNOWN', 'waiting', 0, 0]],
      )
    },
  }),
  engineCase({
    name: 'redrive: messages that become dead letters after its start are not in it',
    async run(bench) {
      const { notes, stop } = await buried(bench, ['m1', 'm2', 'late'], ['m1', 'm2'])
      await stop()
      const { id, selected } = await notes.operations.letters.redrive({ type: 'note.created' }, ana)
      assert.equal(selected, 2)
      await notes.deliver(note('late'))
      assert.deepEqual(await deadKeys(bench), ['m1', 'm2', 'late'])
      const next = handlerOn(bench.app({ store: bench.rival }), bench, new Set())
      await next.handle()
      assert.equal(await next.ended(id), 'finished')
      assert.deepEqual(next.runs, ['m1', 'm2'])
      assert.deepEqual(await deadKeys(bench), ['late'])
    },
  }),
  engineCase({
    name: 'redrive: when the canary fails, the others are left as they were',
    async run(bench) {
      const { runs, notes, ended } = await buried(bench, ['m1', 'm2', 'm3'])
      const { id } = await notes.operations.letters.redrive('all', { ...ana, canary: 1 })
      assert.equal(await ended(id), 'stopped')
      assert.deepEqual(runs, ['m1'])
      assert.deepEqual(await deadKeys(bench), ['m1', 'm2', 'm3'])
      assert.deepEqual(await countsOf(bench.effects, 'm1', 'm2', 'm3'), { m1: 0, m2: 0, m3: 0 })
    },
  }),
  engineCase({
    name: 'redrive: a canary that had reached no handler, and fails in the one there is now, holds the others back',
    async run(bench) {
      const ids = ['m1', 'm2', 'm3']
      const before = bench.app()
      before.app.on('note.changed', 'tag-note', () => {})
      await before.handle(...ids.map((id) => note(id)))
      await before.stop()
      const { runs, notes, handle, ended } = handlerOn(bench.app(), bench, new Set(ids))
      await handle()
      const { id } = await notes.operations.letters.redrive('all', { ...ana, canary: 1 })
      assert.equal(await ended(id), 'stopped')
      assert.deepEqual(runs, ['m1'])
      const { failed, succeeded } = await notes.operations.letters.redriveStatus(id)
      assert.deepEqual({ failed, succeeded }, { failed: 1, succeeded: 0 })
      const rows = await bench.store.parking.list({ state: 'dead' })
      assert.deepEqual(rows.map(({ handler, messageId }) => [handler, messageId]).sort(), [
        ['-', 'm2'],
        ['-', 'm3'],
        ['tag-note', 'm1'],
      ])
    },
  }),
  engineCase({
    name: 'redrive: it stops by itself when more letters have failed than allowed',
    async run(bench) {
      const { notes, ended } = await buried(bench, ['m1', 'm2', 'm3'])
      const { id } = await notes.operations.letters.redrive('all', { ...ana, stopAfterFailures: 1 })
      assert.equal(await ended(id), 'stopped')
      await eventually(async () => ((await deadKeys(bench)).length === 3 ? true : undefined), 'the last death')
      const again = await notes.operations.letters.redrive('all', { ...ana, stopAfterFailures: 3 })
      assert.equal(again.selected, 3)
      assert.equal(await ended(again.id), 'finished')
    },
  }),
  engineCase({
    name: 'redrive: when its driver ends in the middle, another process finishes it, each effect once',
    async run(bench) {
      const ids = ['m1', 'm2', 'm3', 'm4', 'm5', 'm6']
      const entered = gate()
      const finish = gate()
      const first = await buried(bench, ids)
      first.repair()
      first.pauseAt('m1', async () => {
        entered.open()
        await finish.opened
      })
      const { id } = await first.notes.operations.letters.redrive('all', { ...ana, canary: 1 })
      await entered.opened
      // It ends while its canary runs. Even if it has released the others by then, none of them has run.
      const stopped = first.stop()
      finish.open()
      await stopped
      const left = await first.notes.operations.letters.redriveStatus(id)
      assert.ok(left.state === 'running')
      assert.deepEqual([left.unreleased + left.untried, left.failed, left.succeeded], [5, 0, 1])
      const second = handlerOn(bench.app({ store: bench.rival }), bench, new Set())
      await second.handle()
      await second.ended(id)
      assert.deepEqual(
        Object.values(await countsOf(bench.effects, ...ids)),
        ids.map(() => 1),
      )
      assert.equal(await countParked(bench.store), 0)
    },
  }),
  engineCase({
    name: 'redrive: two drivers at the same time release and run each letter once',
    async run(bench) {
      const ids = Array.from({ length: 12 }, (_, index) => `m${index}`)
      const first = await buried(bench, ids)
      const second = handlerOn(bench.app({ store: bench.rival, pollMs: 1 }), bench, new Set())
      await second.handle()
      first.repair()
      const { id } = await first.notes.operations.letters.redrive('all', { ...ana, canary: 3 })
      await eventually(async () => {
        const [found] = await findRedrives(bench.store, [id])
        return found?.redrive.state === 'finished' ? true : undefined
      }, 'the end of the redrive')
      assert.deepEqual(
        Object.values(await countsOf(bench.effects, ...ids)),
        ids.map(() => 1),
      )
    },
  }),
  engineCase({
    name: 'redrive: an edited letter keeps its id and both bodies, and a late copy of the received one is a duplicate',
    async run(bench) {
      const { store, effects, app } = bench
      const { app: notes, handle, stop } = app()
      const bodies: unknown[] = []
      const register = ({ app: on }: BenchApp) =>
        on.on('note.created', { name: 'tag-note', ...atOnce }, async ({ id, body }, { tx }) => {
          await effects.write(tx, id)
          bodies.push(body)
          if (body !== 'good') throw new Error('no')
        })
      register({ app: notes } as BenchApp)
      await handle(note('m1', { body: 'bad' }))
      await stop()
      await notes.operations.letters.redrive({ handler: 'tag-note', key: 'm1' }, { ...ana, body: 'good' })
      const letter = await notes.operations.letters.get({ handler: 'tag-note', key: 'm1' })
      assert.deepEqual(
        [letter?.messageId, letter?.body, letter?.originalBody, letter?.edited],
        ['m1', 'good', 'bad', true],
      )
      assert.deepEqual((await notes.operations.audit()).map(({ action }) => action).sort(), ['edit', 'redrive'])
      const next = app({ store: bench.rival })
      register(next)
      await next.handle()
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'the edited letter')
      await next.handle(note('m1', { body: 'bad' }))
      assert.deepEqual(bodies, ['bad', 'good'])
      assert.equal(await effects.count('m1'), 1)
      assert.equal(await countParked(store), 0)
    },
  }),
  engineCase({
    name: 'redrive: a selection that cannot be redriven as a whole is not started',
    async run(bench) {
      const { notes, stop } = await buried(bench, ['m1', 'm2'])
      await stop()
      const before = await bench.store.parking.list()
      const keys = ['m1', 'gone'].map((key) => ({ handler: 'tag-note', key }))
      const { redrive, discard } = notes.operations.letters
      for (const refused of [
        () => redrive(keys, ana),
        () => discard(keys, ana),
        () => redrive({ type: 'another' }, ana),
        () => redrive({ handler: 'tag-note', key: 'm1' }, { ...ana, body: Uint8Array.of(0xff) }),
      ])
        await failureOf(refused(), 'a selection that is not there')
      assert.deepEqual(await bench.store.parking.list(), before)
      assert.deepEqual(await notes.operations.audit(), [])
      assert.deepEqual(await notes.operations.letters.redrives(), [])
    },
  }),
  engineCase({
    name: 'discard: the letter is gone, its record says so, its copies are duplicates, and others continue',
    async run(bench) {
      const { store, effects } = bench
      const { notes, repair, handle, runs } = await buried(bench, ['m1', 'm2'])
      assert.equal(await notes.operations.letters.discard({ handler: 'tag-note', key: 'm1' }, ana), 1)
      assert.equal((await recordOf(store, { handler: 'tag-note', key: 'm1' }))?.state, 'discarded')
      repair()
      await handle(note('m1'), note('m3'))
      assert.deepEqual(runs, ['m3'])
      assert.deepEqual(await countsOf(effects, 'm1', 'm3'), { m1: 0, m3: 1 })
      assert.deepEqual(await deadKeys(bench), ['m2'])
      const [entry] = await notes.operations.audit()
      assert.deepEqual([entry?.action, entry?.by, entry?.why], ['discard', ana.by, ana.why])
    },
  }),
  engineCase({
    name: 'forget: a processed message runs again, a parked one is refused, and only what was done is audited',
    async run(bench) {
      const { notes, handle, repair } = await buried(bench, ['m1'])
      await failureOf(
        notes.operations.records.forget({ handler: 'tag-note', key: 'm1' }, ana),
        'forgetting a parked record',
      )
      assert.deepEqual(await notes.operations.audit(), [])
      repair()
      await handle(note('m2'))
      assert.equal(await notes.operations.records.forget({ handler: 'tag-note', key: 'm2' }, ana), true)
      await handle(note('m2'))
      assert.equal(await bench.effects.count('m2'), 2)
      assert.deepEqual(
        (await notes.operations.audit()).map(({ action }) => action),
        ['forget'],
      )
    },
  }),
]

/** An app whose handler fails on the given messages until it is fixed, and the dead letters that result. */
async function buried(bench: Bench, failing: readonly string[], sent: readonly string[] = failing) {
  const broken = new Set(failing)
  const opened = handlerOn(bench.app(), bench, broken)
  await opened.handle(...sent.map((id) => note(id)))
  assert.equal(await countParked(bench.store, { state: 'dead' }), sent.length)
  opened.runs.length = 0
  return {
    ...opened,
    /** From now on, the messages that were sent at first succeed. */
    repair: () => {
      for (const id of sent) broken.delete(id)
    },
  }
}

function handlerOn(opened: BenchApp, { store, effects }: Bench, broken: ReadonlySet<string>) {
  const { app: notes, handle, stop } = opened
  const runs: string[] = []
  const pauses = new Map<string, () => Promise<void>>()
  notes.on('note.created', { name: 'tag-note', ...atOnce }, async ({ id }, { tx }) => {
    runs.push(id)
    await effects.write(tx, id)
    await pauses.get(id)?.()
    if (broken.has(id)) throw new Error('no')
  })
  return {
    notes,
    handle,
    stop,
    /** What the handler was given since then, in order. */
    runs,
    pauseAt: (id: string, pause: () => Promise<void>) => void pauses.set(id, pause),
    /** How the redrive has ended. */
    ended: (id: string) =>
      eventually(async () => {
        const [found] = await findRedrives(store, [id])
        return found === undefined || found.redrive.state === 'running' ? undefined : found.redrive.state
      }, 'the end of the redrive'),
  }
}

async function deadKeys({ store }: Bench): Promise<readonly string[]> {
  return (await store.parking.list({ state: 'dead' })).map(({ key }) => key)
}
