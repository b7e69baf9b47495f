import assert from 'node:assert/strict'
import { countParked } from '../../operations/index.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { countsOf, engineCase, note } from './bench.ts'

const healthy = ['m1', 'm2', 'm4', 'm5', 'm6']

/** Failures that look as if the store were unavailable, or that show only at the commit. */
export const looksAwayCases: readonly StoreCase[] = [
  engineCase({
    name: 'away: a handler that loses its connection each time uses up its attempts, and its neighbours are handled',
    needs: ['cut'],
    async run({ store, effects, app }) {
      const { app: notes, handle, events } = app()
      const retry = { attempts: 2, backoff: () => 0 }
      notes.on('note.created', { name: 'tag-note', retry }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        if (id === 'm3') await effects.cut?.(tx)
        await effects.write(tx, id)
      })
      await handle(...['m1', 'm2', 'm3', 'm4', 'm5', 'm6'].map((id) => note(id)))
      const isDead = async () => ((await countParked(store, { state: 'dead' })) === 1 ? true : undefined)
      await eventually(isDead, 'its dead letter')
      assert.deepEqual(
        (await store.parking.list()).map(({ key, attempts }) => [key, attempts]),
        [['m3', 2]],
      )
      assert.deepEqual(Object.values(await countsOf(effects, ...healthy)), [2, 2, 2, 2, 2])
      assert.equal(await effects.count('m3'), 0)
      assert.equal(events.filter(({ kind }) => kind === 'store-down').length, 0, 'the store was never down')
    },
  }),
  engineCase({
    name: 'away: a connection that is lost now and then does not cost an attempt',
    needs: ['cut'],
    async run({ store, effects, app }) {
      const { app: notes, handle } = app()
      let losses = 0
      notes.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, async ({ id }, { tx }) => {
        if (id === 'm1' && losses++ === 0) await effects.cut?.(tx)
        await effects.write(tx, id)
      })
      await handle(note('m1'))
      assert.deepEqual([await effects.count('m1'), await countParked(store), losses], [1, 0, 2])
    },
  }),
  engineCase({
    name: 'away: a breaker opens when everything fails at the commit',
    needs: ['deferred-failure'],
    async run({ store, effects, app }) {
      const { app: notes, transport, events } = app()
      const handler = { name: 'tag-note', retry: { backoff: () => 3_600_000 }, breaker: { pauseMs: 3_600_000 } }
      notes.on('note.created', handler, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        await effects.writeFailingAtCommit?.(tx)
      })
      notes.on('note.removed', 'forget-note', ({ id }, { tx }) => effects.write(tx, id))
      transport.send(Array.from({ length: 60 }, (_, index) => note(`m${index}`)))
      await notes.start()
      await eventually(async () => events.find(({ kind }) => kind === 'breaker-opened'), 'the breaker')
      transport.send({ ...note('other'), type: 'note.removed' })
      await eventually(async () => ((await effects.count('other')) === 1 ? true : undefined), 'another type')
      const parked = await countParked(store)
      assert.ok(parked < 40, `${parked} of 60 messages were parked`)
    },
  }),
]
