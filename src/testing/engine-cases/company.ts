import assert from 'node:assert/strict'
import type { JustonceEvent } from '../../contracts/index.ts'
import { countParked } from '../../operations/index.ts'
import { overriding } from '../overriding.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { anHour, type BenchStore, countsOf, engineCase, largestBatch, later, makeDue, note } from './bench.ts'

const ids = ['m1', 'm2', 'm3', 'm4', 'm5']

/** What a handler can leave in its transaction that breaks the next one: a temporary table, a cursor. */
function leftovers(store: BenchStore): { readonly store: BenchStore; stumble(id: string): void } {
  const left = new Set<string>()
  const transaction: BenchStore['transaction'] = (work, options) =>
    store.transaction(work, options).finally(() => left.clear())
  return {
    store: overriding(store, { transaction }),
    stumble(id) {
      const others = [...left].filter((other) => other !== id)
      left.add(id)
      if (others.length > 0) throw new Error(`${id} stumbles over what ${others} left`)
    },
  }
}

function parkedEvents(events: readonly JustonceEvent[]): readonly unknown[] {
  return events.flatMap((event) => (event.kind === 'parked' ? [[event.key, event.attempts]] : []))
}

/** A message that fails together with others counts as failed only after it has failed alone. */
export const companyCases: readonly StoreCase[] = [
  engineCase({
    name: 'company: a handler that fails only together with others is run alone, and that is no failure',
    needs: ['revocable'],
    async run({ store, effects, app }) {
      const { stumble, ...watched } = leftovers(store)
      const opened = app(watched)
      opened.app.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, async ({ id }, { tx }) => {
        stumble(id)
        await effects.write(tx, id)
      })
      await opened.handle(...ids.map((id) => note(id)))
      await opened.stop()
      assert.equal(largestBatch(opened.events), 5)
      assert.deepEqual(await countsOf(effects, ...ids), { m1: 1, m2: 1, m3: 1, m4: 1, m5: 1 })
      assert.equal(await countParked(store), 0)
    },
  }),
  engineCase({
    name: 'company: the same holds for the calls of a batch handler',
    needs: ['revocable'],
    async run({ store, effects, app }) {
      const { stumble, ...watched } = leftovers(store)
      const opened = app(watched)
      opened.app.on('note.created', 'first', ({ id }) => {
        if (id === 'm1') stumble('first')
      })
      opened.app.onBatch('note.created', { name: 'tag-notes', retry: { attempts: 1 } }, async (messages, { tx }) => {
        stumble(messages.map(({ id }) => id).join())
        for (const { id } of messages) await effects.write(tx, id)
      })
      await opened.handle(...ids.map((id) => note(id)))
      assert.deepEqual(await countsOf(effects, ...ids), { m1: 1, m2: 1, m3: 1, m4: 1, m5: 1 })
      assert.equal(await countParked(store), 0)
    },
  }),
  engineCase({
    name: 'company: the same holds for retries that share a transaction',
    needs: ['revocable'],
    async run({ store, effects, app }) {
      const { stumble, ...watched } = leftovers(store)
      const opened = app(watched)
      let isBroken = true
      const retry = { attempts: 2, backoff: () => anHour }
      opened.app.on('note.created', { name: 'tag-note', retry }, async ({ id }, { tx }) => {
        if (isBroken) throw new Error('broken')
        stumble(id)
        await effects.write(tx, id)
      })
      await opened.handle(...ids.map((id) => note(id)))
      isBroken = false
      await makeDue(store)
      await eventually(async () => ((await countParked(store, { state: 'waiting' })) === 0 ? true : undefined), 'all')
      assert.deepEqual(await countsOf(effects, ...ids), { m1: 1, m2: 1, m3: 1, m4: 1, m5: 1 })
      assert.equal(await countParked(store), 0)
    },
  }),
  engineCase({
    name: 'company: what fails with others and then alone has failed once, and its neighbours keep their effects',
    async run({ store, effects, app }) {
      const { app: notes, handle, events, stop } = app()
      notes.on('note.created', 'first', ({ id }, { tx }) => effects.write(tx, `first ${id}`))
      notes.on('note.created', { name: 'tag-note', ...later }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        if (id === 'm2' || id === 'm4') throw new Error('never')
      })
      await handle(...ids.map((id) => note(id)))
      await stop()
      assert.deepEqual(await countsOf(effects, ...ids), { m1: 1, m2: 0, m3: 1, m4: 0, m5: 1 })
      const firsts = ids.map((id) => `first ${id}`)
      assert.deepEqual(Object.values(await countsOf(effects, ...firsts)), [1, 1, 1, 1, 1])
      assert.deepEqual([...parkedEvents(events)].sort(), [
        ['m2', 1],
        ['m4', 1],
      ])
      const rows = (await store.parking.list()).map(({ key, attempts, errors }) => [
        key,
        attempts,
        JSON.parse(errors).length,
      ])
      assert.deepEqual(rows.sort(), [
        ['m2', 1, 1],
        ['m4', 1, 1],
      ])
      assert.equal(events.filter(({ kind }) => kind === 'duplicate').length, 0)
    },
  }),
  engineCase({
    name: 'company: a message that is run alone is not overtaken by those of its key',
    needs: ['revocable'],
    async run({ store, effects, app }) {
      const { stumble, ...watched } = leftovers(store)
      const opened = app(watched)
      const order: string[] = []
      opened.app.on('note.created', { name: 'tag-note', ordered: { by: 'key' }, ...later }, async ({ id }, context) => {
        stumble(id)
        await effects.write(context.tx, id)
        context.afterCommit(() => order.push(id))
        if (id === 'b1') throw new Error('no')
      })
      const all = ['a1', 'b1', 'a2', 'b2', 'a3', 'b3']
      await opened.handle(...all.map((id) => note(id, { key: id.charAt(0) })))
      await opened.stop()
      assert.deepEqual(order, ['a1', 'a2', 'a3'])
      assert.deepEqual(Object.values(await countsOf(effects, ...all)), [1, 0, 1, 0, 1, 0])
      const rows = (await store.parking.list()).map(({ key, attempts }) => [key, attempts])
      assert.deepEqual(rows, [
        ['b1', 1],
        ['b2', 0],
        ['b3', 0],
      ])
    },
  }),
]
