import assert from 'node:assert/strict'
import { isJustonceError } from '../../errors/index.ts'
import { present, recordOf } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf, gate } from '../waiting.ts'
import { countsOf, engineCase, largestBatch, later, note } from './bench.ts'
import { limitsByHand } from './limits-by-hand.ts'

/** One message's misuse of its transaction must never affect its neighbours. */
export const handlerMisuseCases: readonly StoreCase[] = [
  engineCase({
    name: 'handler misuse: a call that a failed handler left running does not write into the transaction of its neighbour',
    needs: ['revocable'],
    async run({ store, effects, app }) {
      const { app: notes, handle, events, stop } = app()
      const lateWrites: Promise<unknown>[] = []
      let neighbourRuns = gate()
      notes.on('note.created', { name: 'tag-note', ...later }, async ({ id }, { tx }) => {
        if (id === 'm2') {
          neighbourRuns.open()
          await Promise.allSettled(lateWrites)
          return effects.write(tx, id)
        }
        neighbourRuns = gate()
        const sibling = async () => {
          await effects.write(tx, id)
          await neighbourRuns.opened
          const late = failureOf(effects.write(tx, 'm1 late'), 'a late write')
          lateWrites.push(late)
          await late
        }
        await Promise.all([sibling(), effects.write(tx, id).then(() => Promise.reject(new Error('no')))])
      })
      await handle(note('m1'), note('m2'))
      await stop()
      assert.equal(largestBatch(events), 2)
      const errors = await Promise.all(lateWrites)
      assert.ok(errors.length > 0, 'the sibling never came to its late write')
      for (const error of errors) assert.ok(isJustonceError(error, 'TX_CLOSED'), String(error))
      assert.deepEqual(await countsOf(effects, 'm1', 'm1 late', 'm2'), { m1: 0, 'm1 late': 0, m2: 1 })
      assert.deepEqual(
        (await store.parking.list()).map(({ key }) => key),
        ['m1'],
      )
      assert.ok(events.some((event) => event.kind === 'late-call' && event.handler === 'tag-note'))
    },
  }),
  engineCase({
    name: 'handler misuse: a handler that fails while one of its calls is still open affects no other message',
    needs: ['revocable'],
    async run({ store, effects, app }) {
      const { app: notes, handle } = app()
      const underWay: Promise<unknown>[] = []
      notes.on('note.created', { name: 'tag-note', ...later }, async ({ id }, { tx }) => {
        const write = effects.write(tx, id)
        underWay.push(write.catch(() => {}))
        if (id === 'm2') throw new Error('no')
        await write
      })
      await handle(note('m1'), note('m2'), note('m3'))
      await Promise.all(underWay)
      assert.deepEqual(await countsOf(effects, 'm1', 'm2', 'm3'), { m1: 1, m2: 0, m3: 1 })
      assert.deepEqual(
        (await store.parking.list()).map(({ key, attempts }) => [key, attempts]),
        [['m2', 1]],
      )
    },
  }),
  engineCase({
    name: 'handler misuse: a call that a handler started and did not await counts as its own or not at all',
    needs: ['revocable'],
    async run({ effects, app }) {
      const { app: notes, handle } = app()
      const neighbourRuns = gate()
      const late: Promise<unknown>[] = []
      notes.on('note.created', 'tag-note', async ({ id }, { tx }) => {
        if (id === 'm2') {
          neighbourRuns.open()
          await Promise.allSettled(late)
        } else {
          void effects.write(tx, 'm1 not awaited')
          late.push(neighbourRuns.opened.then(() => failureOf(effects.write(tx, 'm1 late'), 'a late write')))
        }
        await effects.write(tx, id)
      })
      await handle(note('m1'), note('m2'))
      await Promise.all(late)
      const names = ['m1', 'm1 not awaited', 'm1 late', 'm2']
      assert.deepEqual(await countsOf(effects, ...names), { m1: 1, 'm1 not awaited': 1, 'm1 late': 0, m2: 1 })
    },
  }),
  engineCase({
    name: 'handler misuse: a handler that commits by itself is parked, and nothing of its batch is lost or doubled',
    needs: ['revocable', 'commit'],
    async run({ store, effects, app }) {
      const { app: notes, handle, events, stop } = app()
      notes.on('note.created', { name: 'tag-note', ...later }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        if (id === 'm2') await effects.commit?.(tx)
        if (id === 'm4') await effects.commit?.(tx).catch(() => {})
      })
      await handle(...['m1', 'm2', 'm3', 'm4', 'm5'].map((id) => note(id)))
      await stop()
      assert.equal(largestBatch(events), 5)
      assert.deepEqual(await countsOf(effects, 'm1', 'm2', 'm3', 'm4', 'm5'), { m1: 1, m2: 0, m3: 1, m4: 0, m5: 1 })
      const rows = await store.parking.list()
      assert.deepEqual(rows.map(({ key, reason }) => [key, reason]).sort(), [
        ['m2', 'TX_CONTROL'],
        ['m4', 'TX_CONTROL'],
      ])
    },
  }),
  engineCase({
    name: 'handler misuse: rolling back to a savepoint of a neighbour is refused, and the neighbour loses nothing',
    needs: ['revocable', 'savepoint-names'],
    async run({ store, effects, app }) {
      const { app: notes, handle, events, stop } = app()
      const { make, undo } = present(effects.savepoints, 'effects.savepoints')
      notes.on('note.created', { name: 'tag-note', ...later }, async ({ id }, { tx }) => {
        try {
          if (id === 'm2') throw new Error('before it has made one')
          await make(tx, 'sp')
          await effects.write(tx, id)
        } catch {
          await undo(tx, 'sp').catch(() => {})
        }
      })
      await handle(note('m1'), note('m2'), note('m3'))
      await stop()
      assert.equal(largestBatch(events), 3)
      assert.deepEqual(await countsOf(effects, 'm1', 'm2', 'm3'), { m1: 1, m2: 0, m3: 1 })
      assert.equal((await recordOf(store, { handler: 'tag-note', key: 'm1' }))?.state, 'processed')
      assert.deepEqual(
        (await store.parking.list()).map(({ key, reason }) => [key, reason]),
        [['m2', 'TX_CONTROL']],
      )
    },
  }),
  engineCase({
    name: 'handler misuse: an error that ends the whole transaction fails only its own message, swallowed or not',
    needs: ['revocable', 'ruinous-write'],
    async run({ store, effects, app }) {
      const { app: notes, handle } = app()
      notes.on('note.created', { name: 'tag-note', ...later }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        if (id === 'm2') await effects.writeRuinously?.(tx)
        if (id === 'm3') await effects.writeRuinously?.(tx).catch(() => {})
        await effects.write(tx, id).catch(() => {})
      })
      await handle(...['m1', 'm2', 'm3', 'm4'].map((id) => note(id)))
      assert.deepEqual(await countsOf(effects, 'm1', 'm2', 'm3', 'm4'), { m1: 2, m2: 0, m3: 0, m4: 2 })
      assert.deepEqual((await store.parking.list()).map(({ key }) => key).sort(), ['m2', 'm3'])
    },
  }),
  engineCase({
    name: 'handler misuse: a handler that never ends is cut off and parked, and its neighbours are processed',
    needs: ['revocable'],
    async run({ store, effects, app }) {
      const { clock, pass } = limitsByHand()
      const { app: notes, handle } = app({ clock })
      const forever: AbortSignal[] = []
      const timeoutMs = 60_000
      notes.on('note.created', { name: 'tag-note', timeoutMs, ...later }, async ({ id }, { tx, signal }) => {
        await effects.write(tx, id)
        if (id !== 'm2') return
        forever.push(signal)
        pass(timeoutMs)
        await new Promise(() => {})
      })
      await handle(note('m1'), note('m2'), note('m3'))
      assert.deepEqual(await countsOf(effects, 'm1', 'm2', 'm3'), { m1: 1, m2: 0, m3: 1 })
      assert.deepEqual(
        (await store.parking.list()).map(({ key, reason, attempts }) => [key, reason, attempts]),
        [['m2', 'HANDLER_TIMEOUT', 1]],
      )
      assert.ok(forever.length > 0 && forever.every((signal) => signal.aborted))
    },
  }),
]
