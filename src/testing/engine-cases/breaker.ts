import assert from 'node:assert/strict'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { countsOf, engineCase, later, note } from './bench.ts'

/** When everything fails, and where failed messages wait. */
export const breakerCases: readonly StoreCase[] = [
  engineCase({
    name: 'breaker: after so many failures in a row a handler is given no more, and goes on by itself when it is mended',
    async run({ store, effects, app }) {
      const { app: notes, transport, events } = app()
      let isBroken = true
      const options = { name: 'tag-note', breaker: { after: 5, pauseMs: 30 }, ...later }
      notes.on('note.created', options, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        if (isBroken) throw new Error('a bad deploy')
      })
      notes.on('note.removed', 'untag-note', ({ id }, { tx }) => effects.write(tx, id))
      const ids = Array.from({ length: 80 }, (_, index) => `m${index}`)
      transport.send(ids.map((id) => note(id)))
      await notes.start()
      await eventually(async () => events.find(({ kind }) => kind === 'breaker-opened'), 'the breaker')
      transport.send({ ...note('other'), type: 'note.removed' })
      await eventually(async () => ((await effects.count('other')) === 1 ? true : undefined), 'another type')
      const parked = await store.parking.count()
      assert.ok(parked < 40, `${parked} of 80 messages were parked`)
      isBroken = false
      await transport.idle()
      await eventually(async () => events.find(({ kind }) => kind === 'breaker-closed'), 'its closing')
      const left = await store.parking.count()
      const counts = Object.values(await countsOf(effects, ...ids))
      assert.equal(counts.filter((count) => count === 1).length, ids.length - left)
    },
  }),
  engineCase({
    name: 'policy: ten processes share the attempts of a message: five attempts are five',
    async run({ store, rival, effects, app }) {
      const apps = Array.from({ length: 10 }, (_, index) => app({ store: index % 2 === 0 ? store : rival, pollMs: 1 }))
      for (const { app: notes } of apps) {
        notes.on('note.created', { name: 'tag-note', retry: { backoff: () => 1 } }, async ({ id }, { tx }) => {
          await effects.write(tx, id)
          throw new Error('never')
        })
      }
      await Promise.all(apps.map(({ handle }, index) => handle(...(index === 0 ? [note('m1'), note('m2')] : []))))
      const dead = async () => ((await store.parking.count({ state: 'dead' })) === 2 ? true : undefined)
      await eventually(dead, 'the last attempts')
      const rows = await store.parking.list()
      assert.deepEqual(
        rows.map(({ attempts, errors }) => [attempts, JSON.parse(errors).length]),
        [
          [5, 5],
          [5, 5],
        ],
      )
      const failures = apps.flatMap(({ events }) =>
        events.flatMap((event) => (event.kind === 'parked' ? event.key : [])),
      )
      assert.deepEqual(failures.sort(), [...Array(5).fill('m1'), ...Array(5).fill('m2')])
    },
  }),
]
