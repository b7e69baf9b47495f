import assert from 'node:assert/strict'
import type { Store } from '../../contracts/index.ts'
import { countParked, operations } from '../../operations/index.ts'
import { handler, parkedMessage } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { anHour, dueKeys, keysOf, listedKeys, park } from './parked-rows.ts'

const delayed = '@>events'
const who = { by: 'ada' }

export const parkingDelayedCases: readonly StoreCase[] = [
  {
    name: 'delayed: only a filter that asks for delayed messages finds them',
    async run({ store }) {
      await parkBoth(store)
      for (const filter of [{}, { state: 'waiting' }, { handler: delayed }, { kind: 'message' }] as const) {
        const found = await store.parking.list(filter)
        assert.deepEqual(
          found.filter((row) => row.handler === delayed),
          [],
          JSON.stringify(filter),
        )
        assert.equal(await countParked(store, filter), found.length)
      }
      assert.deepEqual(await listedKeys(store, { kind: 'intent' }), ['call'])
      assert.deepEqual(await listedKeys(store, { kind: 'delayed' }), ['now', 'later'])
      assert.deepEqual(await listedKeys(store, { kind: 'delayed', messageId: 'later' }), ['later'])
      assert.equal(await countParked(store, { kind: 'delayed' }), 2)
      assert.equal(await countParked(store, { kind: 'any' }), 4)
      assert.deepEqual(await dueKeys(store, { handlers: [delayed] }), ['now'])
    },
  },
  {
    name: 'delayed: what operators do with retries and dead letters, even with all of them, leaves delayed messages alone',
    async run({ store }) {
      await parkBoth(store)
      const before = await store.parking.list({ kind: 'delayed' })
      const { letters, retries } = operations(store)
      assert.deepEqual(keysOf(await retries.list()), ['m1'])
      assert.equal(await retries.get({ handler: delayed, key: 'later' }), undefined)
      assert.equal(await retries.retryNow('all', who), 1)
      assert.equal(await retries.retryNow({ reason: 'DELAYED' }, who), 0)
      assert.deepEqual(await letters.list(), [])
      assert.deepEqual(await store.parking.list({ kind: 'delayed' }), before)
    },
  },
  {
    name: 'delayed: operators list and cancel one by its id, once, and it is audited',
    async run({ store }) {
      await parkBoth(store)
      const { outgoing, audit } = operations(store)
      const listed = await outgoing.delayed()
      assert.deepEqual(
        listed.map(({ id, destination }) => [id, destination]),
        [
          ['now', 'events'],
          ['later', 'events'],
        ],
      )
      assert.ok((listed[1]?.dueAt.getTime() ?? 0) - (listed[1]?.publishedAt.getTime() ?? 0) >= anHour)
      assert.deepEqual(
        (await outgoing.delayed({}, { after: listed[0]?.sequence })).map(({ id }) => id),
        ['later'],
      )
      assert.equal(await outgoing.cancel('m1', who), false)
      assert.equal(await outgoing.cancel('later', who), true)
      assert.equal(await outgoing.cancel('later', who), false)
      assert.deepEqual(await listedKeys(store, { kind: 'any' }), ['m1', 'now', 'call'])
      assert.deepEqual(
        (await audit()).map(({ action, subject }) => [action, subject]),
        [['cancel', { id: 'later' }]],
      )
    },
  },
]

async function parkBoth<Tx>(store: Store<Tx>): Promise<void> {
  const each = { reason: 'DELAYED', handler: delayed } as const
  await park(
    store,
    parkedMessage('m1', { handler, delayMs: anHour }),
    parkedMessage('now', { ...each, messageId: 'now' }),
    parkedMessage('later', { ...each, messageId: 'later', delayMs: anHour }),
    parkedMessage('call', { handler: '!email.welcome' }),
  )
}
