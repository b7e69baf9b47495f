import assert from 'node:assert/strict'
import { countParked } from '../../operations/index.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { countsOf, engineCase, later, makeDue, note } from './bench.ts'

/** Several handlers of one message. */
export const stepCases: readonly StoreCase[] = [
  engineCase({
    name: 'steps: a failure of the second leaves the first done, and the third waits for it',
    async run({ store, effects, app }) {
      const { app: notes, handle, transport } = app()
      for (const name of ['first', 'second', 'third'])
        notes.on('note.created', { name, ...later }, async (_, { tx }) => {
          await effects.write(tx, name)
          if (name === 'second') throw new Error('no')
        })
      await handle(note('m1'))
      assert.deepEqual(await countsOf(effects, 'first', 'second', 'third'), { first: 1, second: 0, third: 0 })
      const rows = await store.parking.list()
      assert.deepEqual(rows.map(({ handler, attempts }) => [handler, attempts]).sort(), [
        ['second', 1],
        ['third', 0],
      ])
      await handle(note('m1'))
      assert.deepEqual(await countsOf(effects, 'first', 'second', 'third'), { first: 1, second: 0, third: 0 })
      assert.equal(transport.settled().length, 2)
    },
  }),
  engineCase({
    name: 'steps: when the second succeeds later, the third follows, each once and in order',
    async run({ store, effects, app }) {
      const order: string[] = []
      let failures = 0
      const { app: notes, handle } = app()
      for (const name of ['first', 'second', 'third'])
        notes.on('note.created', { name, retry: { backoff: () => 0 } }, async (_, { tx }) => {
          await effects.write(tx, name)
          if (name === 'second' && ++failures < 4) throw new Error('not yet')
          order.push(name)
        })
      await handle(note('m1'))
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'the last handler')
      assert.deepEqual(await countsOf(effects, 'first', 'second', 'third'), { first: 1, second: 1, third: 1 })
      assert.deepEqual(order.slice(-2), ['second', 'third'])
    },
  }),
  engineCase({
    name: 'steps: an at-most-once handler waits for an earlier handler that has failed, as any other does',
    async run({ store, effects, app }) {
      const { app: notes, handle, stop } = app()
      let isBroken = true
      notes.on('note.created', { name: 'first', ...later }, async (_, { tx }) => {
        await effects.write(tx, 'first')
        if (isBroken) throw new Error('not yet')
      })
      notes.on('note.created', { name: 'second', delivery: 'at-most-once' }, (_, { tx }) => effects.write(tx, 'second'))
      await handle(note('m1'))
      await handle(note('m1'))
      assert.deepEqual(await countsOf(effects, 'first', 'second'), { first: 0, second: 0 })
      isBroken = false
      await makeDue(store)
      await eventually(async () => ((await effects.count('second')) === 1 ? true : undefined), 'the second handler')
      await stop()
      assert.deepEqual(await countsOf(effects, 'first', 'second'), { first: 1, second: 1 })
    },
  }),
  engineCase({
    name: 'steps: an independent handler does not wait',
    async run({ effects, app }) {
      const { app: notes, handle } = app()
      notes.on('note.created', { name: 'first', ...later }, () => {
        throw new Error('no')
      })
      notes.on('note.created', { name: 'second', independent: true }, (_, { tx }) => effects.write(tx, 'second'))
      await handle(note('m1'))
      assert.equal(await effects.count('second'), 1)
    },
  }),
  engineCase({
    name: 'steps: a handler with its own transactions keeps the guarantee, too',
    async run({ store, effects, app }) {
      const { app: notes, handle } = app()
      notes.on('note.created', { name: 'tag-note', transaction: 'own', ...later }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        if (id === 'm2') throw new Error('no')
      })
      await handle(note('m1'), note('m2'), note('m1'), note('m3'))
      assert.deepEqual(await countsOf(effects, 'm1', 'm2', 'm3'), { m1: 1, m2: 0, m3: 1 })
      assert.equal(await countParked(store), 1)
    },
  }),
]
