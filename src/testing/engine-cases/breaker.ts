import assert from 'node:assert/strict'
import { countParked } from '../../operations/index.ts'
import { memoryTransport } from '../../transports/memory/index.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { type BenchStore, countsOf, engineCase, later, note } from './bench.ts'

function stoppedBy(store: Pick<BenchStore, 'parking'>): Promise<number> {
  return countParked(store, { reason: 'WAITS_FOR_BREAKER' })
}

/** When everything fails, and where failed messages wait. */
export const breakerCases: readonly StoreCase[] = [
  engineCase({
    name: 'breaker: after enough failures in a row a handler is paused, and it resumes by itself when it is fixed',
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
      const parked = await countParked(store)
      assert.ok(parked < 40, `${parked} of 80 messages were parked`)
      isBroken = false
      await transport.idle()
      await eventually(async () => events.find(({ kind }) => kind === 'breaker-closed'), 'its closing')
      // The messages that had made room for the other type now get their attempt.
      await eventually(async () => (await stoppedBy(store)) === 0 || undefined, 'those that were stopped')
      const left = await countParked(store)
      const counts = Object.values(await countsOf(effects, ...ids))
      assert.equal(counts.filter((count) => count === 1).length, ids.length - left)
    },
  }),
  engineCase({
    name: 'breaker: a handler that fails on everything blocks neither other types nor other handlers of its messages',
    async run({ store, effects, app }) {
      const { app: notes, handle, transport } = app({ transport: memoryTransport({ order: 'none' }) })
      let isBroken = true
      const options = { name: 'broken', breaker: { after: 5, pauseMs: 30 }, ...later }
      notes.on('note.created', options, async ({ id }, { tx }) => {
        if (isBroken) throw new Error('a bad deploy')
        await effects.write(tx, `broken ${id}`)
      })
      notes.on('note.created', { name: 'healthy', independent: true }, ({ id }, { tx }) =>
        effects.write(tx, `healthy ${id}`),
      )
      notes.on('note.removed', 'untag-note', ({ id }, { tx }) => effects.write(tx, `removed ${id}`))
      const ids = Array.from({ length: 150 }, (_, index) => `m${index}`)
      await handle(...ids.flatMap((id) => [note(id), { ...note(`r${id}`), type: 'note.removed' }]))
      const healthy = ids.flatMap((id) => [`healthy ${id}`, `removed r${id}`])
      assert.ok(Object.values(await countsOf(effects, ...healthy)).every((count) => count === 1))
      const rows = await store.parking.list({ handler: 'broken' })
      const stopped = rows.filter(({ reason }) => reason === 'WAITS_FOR_BREAKER')
      assert.equal(rows.length, ids.length)
      assert.ok(stopped.length > 50, `${stopped.length} were stopped by the breaker`)
      assert.ok(stopped.every(({ attempts, state }) => attempts === 0 && state === 'waiting'))
      isBroken = false
      await transport.idle()
      await eventually(async () => (await stoppedBy(store)) === 0 || undefined, 'those that were stopped')
      // One of them may have been a trial before the deploy was repaired. It has failed, and waits for its next attempt.
      const left = await store.parking.list({ handler: 'broken' })
      assert.ok(left.every(({ attempts }) => attempts > 0))
      const followed = stopped.filter(({ key }) => !left.some((row) => row.key === key))
      assert.ok(followed.length > stopped.length / 2, `${followed.length} of ${stopped.length} have followed`)
      const counts = await countsOf(effects, ...followed.map(({ key }) => `broken ${key}`))
      assert.ok(Object.values(counts).every((count) => count === 1))
    },
  }),
  engineCase({
    name: 'breaker: messages of an ordered key keep their order when the breaker stops some of them',
    async run({ effects, app }) {
      const { app: notes, handle, events } = app()
      let isBroken = true
      const order: string[] = []
      const options = { name: 'ordered', ordered: { by: 'key' }, breaker: { after: 3, pauseMs: 30 } } as const
      notes.on('note.created', { ...options, retry: { attempts: 100, backoff: () => 10 } }, async ({ id }, { tx }) => {
        if (isBroken) throw new Error('a bad deploy')
        await effects.write(tx, id)
        order.push(id)
      })
      notes.on('note.removed', 'untag-note', ({ id }, { tx }) => effects.write(tx, id))
      const ids = Array.from({ length: 40 }, (_, index) => `m${index}`)
      const messages = ids.map((id, index) => note(id, { key: `k${index % 4}` }))
      await handle(...messages.flatMap((each) => [each, { ...note(`r${each.id}`), type: 'note.removed' }]))
      assert.ok(events.some(({ kind }) => kind === 'breaker-opened'))
      isBroken = false
      await eventually(async () => (new Set(order).size === ids.length ? true : undefined), 'all of them')
      for (const lane of [0, 1, 2, 3]) {
        const ofKey = ids.filter((_, index) => index % 4 === lane)
        assert.deepEqual(
          [...new Set(order)].filter((id) => ofKey.includes(id)),
          ofKey,
        )
      }
    },
  }),
  engineCase({
    name: 'policy: ten processes share the attempts of a message, so five attempts are five',
    async run({ store, rival, effects, app }) {
      const apps = Array.from({ length: 10 }, (_, index) => app({ store: index % 2 === 0 ? store : rival, pollMs: 1 }))
      for (const { app: notes } of apps) {
        notes.on('note.created', { name: 'tag-note', retry: { backoff: () => 1 } }, async ({ id }, { tx }) => {
          await effects.write(tx, id)
          throw new Error('never')
        })
      }
      await Promise.all(apps.map(({ handle }, index) => handle(...(index === 0 ? [note('m1'), note('m2')] : []))))
      const dead = async () => ((await countParked(store, { state: 'dead' })) === 2 ? true : undefined)
      await eventually(dead, 'the last attempts')
      const rows = await store.parking.list()
      assert.deepEqual(
        rows.map(({ attempts, errors }) => [attempts, JSON.parse(errors).length]),
        [
          [5, 5],
          [5, 5],
        ],
      )
      // An event comes a moment after its commit.
      await Promise.all(apps.map(({ stop }) => stop()))
      const failures = apps.flatMap(({ events }) =>
        events.flatMap((event) => (event.kind === 'parked' ? event.key : [])),
      )
      assert.deepEqual(failures.sort(), [...Array(5).fill('m1'), ...Array(5).fill('m2')])
    },
  }),
]
