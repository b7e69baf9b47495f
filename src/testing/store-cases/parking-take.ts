import assert from 'node:assert/strict'
import type { NewParkedMessage, Store } from '../../contracts/index.ts'
import { handler, parkedMessage, request } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually, hold } from '../waiting.ts'

const anHour = 3_600_000
const steps = ['step-0', 'step-1', 'step-2']

export const parkingTakeCases: readonly StoreCase[] = [
  {
    name: 'parking: due now is taken, due in an hour is not, dead never is',
    async run({ store, rival }) {
      await park(store, parkedMessage('later', { delayMs: anHour }))
      await park(store, parkedMessage('dead', { state: 'dead' }))
      await park(store, parkedMessage('now'))
      assert.deepEqual(await takeDue(rival, 10), ['now'])
    },
  },
  {
    name: 'parking: what becomes due is taken then',
    async run({ store, rival }) {
      await park(store, parkedMessage('m1', { delayMs: 150 }))
      const taken = await eventually(async () => {
        const keys = await takeDue(rival, 10)
        return keys.length > 0 ? keys : undefined
      }, 'a parked message becoming due')
      assert.deepEqual(taken, ['m1'])
    },
  },
  {
    name: 'parking: a delay need not be a whole number of milliseconds',
    async run({ store }) {
      await park(store, parkedMessage('m1', { delayMs: 0.3 }), parkedMessage('m2', { delayMs: 7_654_321.987 }))
      await store.transaction((tx) =>
        store.parking.change(tx, [
          {
            ...request('m1'),
            kind: 'again',
            attempts: 2,
            delayMs: 1_234_567.891,
            reason: 'HANDLER_FAILED',
            errors: '[]',
          },
        ]),
      )
      assert.deepEqual(await takeDue(store, 10), [])
      assert.equal(await store.parking.count({ state: 'waiting' }), 2)
    },
  },
  {
    name: 'parking: those that are due longest come first, up to the limit',
    async run({ store }) {
      for (const key of ['m3', 'm1', 'm2']) await park(store, parkedMessage(key))
      assert.deepEqual(await takeDue(store, 2), ['m3', 'm1'])
      assert.deepEqual(await takeDue(store, 10), ['m3', 'm1', 'm2'])
    },
  },
  {
    name: 'parking: only messages of the given handlers are taken, and others do not use up the limit',
    async run({ store }) {
      for (const [index, name] of ['theirs', 'theirs', 'ours', 'Ours', 'ours'].entries())
        await park(store, parkedMessage(`m${index}`, { handler: name }))
      assert.deepEqual(await takeDue(store, 2, ['ours', 'another']), ['m2', 'm4'])
      assert.deepEqual(await takeDue(store, 10, ['theirs', 'Ours']), ['m0', 'm1', 'm3'])
      assert.deepEqual(await takeDue(store, 10, []), [])
    },
  },
  {
    name: 'parking: a later step waits for an earlier one of a handler that this process does not know',
    async run({ store }) {
      await park(
        store,
        parkedMessage('m1', { handler: 'theirs', step: 0 }),
        parkedMessage('m1', { handler: 'ours', step: 1 }),
      )
      assert.deepEqual(await takeDue(store, 10, ['ours']), [])
    },
  },
  {
    name: 'parking: what is taken in one open transaction is skipped by another, not waited for',
    needs: ['concurrent'],
    async run({ store, rival }) {
      for (const key of ['m1', 'm2', 'm3', 'm4']) await park(store, parkedMessage(key))
      const first = await hold(store, (tx) => store.parking.takeDue(tx, { limit: 2, handlers: [handler] }))
      assert.deepEqual(
        first.value.map(({ key }) => key),
        ['m1', 'm2'],
      )
      assert.deepEqual(await takeDue(rival, 10), ['m3', 'm4'])
      assert.equal(await rival.transaction((tx) => rival.parking.take(tx, request('m1'))), undefined)
      await first.undo()
      assert.deepEqual(await takeDue(rival, 10), ['m1', 'm2', 'm3', 'm4'])
    },
  },
  {
    name: 'parking: a message that two take at the same time is done by one',
    async run({ store, rival, effects }) {
      await park(store, parkedMessage('m1'))
      const retry = (self: typeof store) =>
        self.transaction(async (tx) => {
          for (const { key } of await self.parking.takeDue(tx, { limit: 10, handlers: [handler] })) {
            await effects.write(tx, key)
            await self.parking.change(tx, [{ handler, key, kind: 'done' }])
          }
        })
      await Promise.all([retry(store), retry(rival), retry(store), retry(rival)])
      assert.equal(await effects.count('m1'), 1)
      assert.equal(await store.parking.count(), 0)
    },
  },
  {
    name: 'parking: one given message is taken due or not, dead or not, and not when it is gone',
    async run({ store }) {
      await park(store, parkedMessage('later', { delayMs: anHour }), parkedMessage('dead', { state: 'dead' }))
      const take = (key: string) => store.transaction((tx) => store.parking.take(tx, request(key)))
      assert.equal((await take('later'))?.key, 'later')
      assert.equal((await take('dead'))?.state, 'dead')
      assert.equal(await take('gone'), undefined)
      assert.equal(
        await store.transaction((tx) => store.parking.take(tx, { handler: 'another', key: 'dead' })),
        undefined,
      )
    },
  },
  {
    name: 'parking: a dead letter that gets another try is waiting again',
    async run({ store }) {
      await park(store, parkedMessage('m1', { state: 'dead', attempts: 5 }))
      await store.transaction(async (tx) => {
        await store.parking.take(tx, request('m1'))
        await store.parking.change(tx, [
          { ...request('m1'), kind: 'again', attempts: 0, delayMs: 0, reason: 'HANDLER_FAILED', errors: '[]' },
        ])
      })
      assert.deepEqual(await takeDue(store, 10), ['m1'])
      assert.equal(await store.parking.count({ state: 'dead' }), 0)
    },
  },
  {
    name: 'parking: a later step is not due while an earlier one of the same message is parked, waiting or dead',
    async run({ store }) {
      const step = (key: string, number: number, changes: Partial<NewParkedMessage> = {}) =>
        parkedMessage(key, { handler: `step-${number}`, messageId: key, step: number, ...changes })
      await park(store, step('m1', 2), step('m1', 1), step('m1', 0, { delayMs: anHour }))
      await park(store, step('m2', 0, { state: 'dead' }), step('m2', 1))
      await park(store, step('m3', 1))
      const due = async () => {
        const taken = await store.transaction((tx) => store.parking.takeDue(tx, { limit: 10, handlers: steps }))
        return taken.map((message) => `${message.key} ${message.handler}`).sort()
      }
      const done = (key: string, number: number) =>
        store.transaction((tx) => store.parking.change(tx, [{ handler: `step-${number}`, key, kind: 'done' }]))
      assert.deepEqual(await due(), ['m3 step-1'])
      await done('m1', 0)
      assert.deepEqual(await due(), ['m1 step-1', 'm3 step-1'])
      await done('m1', 1)
      await done('m2', 0)
      assert.deepEqual(await due(), ['m1 step-2', 'm2 step-1', 'm3 step-1'])
    },
  },
  {
    name: 'parking: the same id from another source, or of another type, is another message',
    async run({ store }) {
      await park(
        store,
        parkedMessage('a', { messageId: 'm1', source: 'notes', step: 0, state: 'dead' }),
        parkedMessage('b', { messageId: 'm1', source: 'hooks', step: 1 }),
        parkedMessage('c', { messageId: 'M1', source: 'notes', step: 1 }),
        parkedMessage('d', { messageId: 'm1', source: 'notes', type: 'note.deleted', step: 1 }),
      )
      assert.deepEqual((await takeDue(store, 10)).sort(), ['b', 'c', 'd'])
    },
  },
  {
    name: 'parking: an independent step waits for nobody, and later ones wait for it',
    async run({ store }) {
      await park(
        store,
        parkedMessage('a', { messageId: 'm1', step: 0, state: 'dead' }),
        parkedMessage('b', { messageId: 'm1', step: 1, independent: true }),
        parkedMessage('c', { messageId: 'm2', step: 1, independent: true }),
        parkedMessage('d', { messageId: 'm2', step: 2 }),
      )
      assert.deepEqual((await takeDue(store, 10)).sort(), ['b', 'c'])
    },
  },
  {
    name: 'parking: a later step does not run beside the earlier one that another has just taken',
    needs: ['concurrent'],
    async run({ store, rival }) {
      await park(
        store,
        parkedMessage('m1', { handler: 'step-0', step: 0 }),
        parkedMessage('m1', { handler: 'step-1', step: 1 }),
      )
      const first = await hold(store, async (tx) => {
        const [taken] = await store.parking.takeDue(tx, { limit: 1, handlers: steps })
        await store.parking.change(tx, [{ handler: 'step-0', key: 'm1', kind: 'done' }])
        return taken?.handler
      })
      assert.equal(first.value, 'step-0')
      assert.deepEqual(await takeDue(rival, 10, steps), [])
      await first.commit()
      assert.deepEqual(await takeDue(rival, 10, steps), ['m1'])
    },
  },
]

function park<Tx>(store: Store<Tx>, ...messages: readonly NewParkedMessage[]): Promise<void> {
  return store.transaction((tx) => store.parking.park(tx, messages))
}

/** Takes them and lets them go again. */
async function takeDue<Tx>(
  store: Store<Tx>,
  limit: number,
  handlers: readonly string[] = [handler],
): Promise<string[]> {
  const taken = await store.transaction((tx) => store.parking.takeDue(tx, { limit, handlers }))
  return taken.map(({ key }) => key)
}
