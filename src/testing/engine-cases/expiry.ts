import assert from 'node:assert/strict'
import { countParked } from '../../operations/index.ts'
import { recordOf } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { anHour, countsOf, engineCase, later, note } from './bench.ts'

const longAgo = (): Date => new Date(Date.now() - anHour)
const inAnHour = (): Date => new Date(Date.now() + anHour)

/** Messages that are no longer wanted: skipped or kept, but never without a trace. */
export const expiryCases: readonly StoreCase[] = [
  engineCase({
    name: 'expiry: a message past its expiresAt is skipped and recorded as expired, and its neighbours are processed',
    async run({ store, effects, app }) {
      const { app: notes, handle, events, transport } = app()
      notes.on('note.created', 'tag-note', ({ id }, { tx }) => effects.write(tx, id))
      await handle(note('m1', { expiresAt: longAgo() }), note('m2', { expiresAt: inAnHour() }), note('m3'))
      assert.deepEqual(await countsOf(effects, 'm1', 'm2', 'm3'), { m1: 0, m2: 1, m3: 1 })
      assert.equal((await recordOf(store, { handler: 'tag-note', key: 'm1' }))?.state, 'expired')
      assert.equal(await countParked(store), 0)
      assert.deepEqual(
        events.flatMap((event) => (event.kind === 'expired' ? event.key : [])),
        ['m1'],
      )
      await handle(note('m1', { expiresAt: inAnHour() }))
      assert.equal(await effects.count('m1'), 0, 'a later copy with another expiry ran')
      assert.equal(transport.settled().length, 4)
    },
  }),
  engineCase({
    name: 'expiry: each handler has its own window, and may ask for a dead letter',
    async run({ store, effects, app }) {
      const { app: notes, handle } = app()
      const sentAt = new Date(Date.now() - 60_000)
      notes.on('note.created', { name: 'patient', expires: { afterMs: anHour } }, ({ id }, { tx }) =>
        effects.write(tx, `p ${id}`),
      )
      const strict = { name: 'strict', expires: { afterMs: 1_000, whenLate: 'dead-letter' } } as const
      notes.on('note.created', strict, ({ id }, { tx }) => effects.write(tx, `s ${id}`))
      await handle(note('m1', { sentAt }), note('m2'))
      const counts = await countsOf(effects, 'p m1', 's m1', 'p m2', 's m2')
      assert.deepEqual(Object.values(counts), [1, 0, 1, 1])
      assert.deepEqual(
        (await store.parking.list()).map(({ handler, key, state, reason }) => [handler, key, state, reason]),
        [['strict', 'm1', 'dead', 'MESSAGE_EXPIRED']],
      )
    },
  }),
  engineCase({
    name: 'expiry: a message that expires while it waits for a retry does not run again',
    async run({ store, effects, app }) {
      const { app: notes, handle } = app()
      let runs = 0
      notes.on('note.created', { name: 'tag-note', retry: { backoff: () => 400 } }, async ({ id }, { tx }) => {
        runs++
        await effects.write(tx, id)
        throw new Error('no')
      })
      await handle(note('m1', { expiresAt: new Date(Date.now() + 300) }))
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'the expiry')
      assert.equal((await recordOf(store, { handler: 'tag-note', key: 'm1' }))?.state, 'expired')
      assert.ok(runs <= 2, 'it ran again')
      assert.equal(await effects.count('m1'), 0)
    },
  }),
  engineCase({
    name: 'expiry: a message published with an expiry still has it when it arrives',
    needs: ['queue'],
    async run({ effects, app }) {
      const { app: notes, handle, transport } = app()
      const expiresAt = inAnHour()
      notes.on('note.created', { name: 'tag-note', ...later }, async ({ id }, { publish }) => {
        await publish('note.tagged', { id }, { expiresAt })
      })
      notes.on('note.tagged', 'index-note', async (message, { tx }) => {
        assert.equal(message.expiresAt?.getTime(), expiresAt.getTime())
        await effects.write(tx, 'arrived')
      })
      await handle(note('m1'))
      await eventually(async () => ((await effects.count('arrived')) === 1 ? true : undefined), 'its arrival')
      await transport.idle()
    },
  }),
]
