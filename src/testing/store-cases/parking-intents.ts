import assert from 'node:assert/strict'
import type { ParkedFilter, Store } from '../../contracts/index.ts'
import { isJustonceError } from '../../errors/index.ts'
import { countParked, operations } from '../../operations/index.ts'
import { handler, packed, parkedMessage } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { dueKeys, keysOf, listedKeys, park } from './parked-rows.ts'

const effect = '!email.welcome'

export const parkingIntentCases: readonly StoreCase[] = [
  {
    name: 'intents: a filter that does not ask for them finds and counts none, whatever else it asks for',
    async run({ store }) {
      await parkBoth(store)
      const asked: readonly ParkedFilter[] = [
        {},
        { state: 'dead' },
        { state: 'waiting' },
        { handler: effect },
        { keys: [{ handler: effect, key: 'unknown' }] },
        { key: 'unknown' },
        { type: 'note.created' },
        { kind: 'message' },
        { kind: undefined },
      ]
      for (const filter of asked) {
        const found = await store.parking.list(filter)
        assert.deepEqual([...new Set(found.map((row) => row.handler))].join(), found.length > 0 ? handler : '')
        assert.equal(await countParked(store, filter), found.length)
        for (const each of await store.parking.tally(filter, ['handler'])) assert.equal(each.handler, handler)
      }
      assert.deepEqual(await listedKeys(store), ['m1', 'm2'])
    },
  },
  {
    name: 'intents: one that asks for them finds only them, and any finds both',
    async run({ store }) {
      await parkBoth(store)
      assert.deepEqual(await listedKeys(store, { kind: 'intent' }), ['pending', 'unknown'])
      assert.deepEqual(await listedKeys(store, { kind: 'intent', state: 'dead' }), ['unknown'])
      assert.deepEqual(await listedKeys(store, { kind: 'any' }), ['m1', 'pending', 'm2', 'unknown'])
      assert.equal(await countParked(store, { kind: 'intent' }), 2)
      assert.equal(await countParked(store, { kind: 'any' }), 4)
      assert.equal(await countParked(store, { kind: 'any', state: 'dead' }), 2)
      assert.deepEqual(await dueKeys(store, { handlers: [effect] }), ['pending'])
    },
  },
  {
    name: 'intents: an edit that does not ask for them changes none',
    async run({ store }) {
      await parkBoth(store)
      const before = await store.parking.list({ kind: 'intent' })
      const edits = [
        { kind: 'mark', redrive: 'r1' },
        { kind: 'release' },
        { kind: 'replace', message: packed('x') },
        { kind: 'remove' },
      ] as const
      for (const edit of edits) {
        const edited = await store.transaction((tx) => store.parking.edit(tx, {}, edit, 10))
        assert.deepEqual(keysOf(edited), ['m1', 'm2'])
        const keys = [{ handler: effect, key: 'unknown' }]
        assert.deepEqual(await store.transaction((tx) => store.parking.edit(tx, { keys }, edit, 10)), [])
      }
      assert.deepEqual(await store.parking.list({ kind: 'intent' }), before)
    },
  },
  {
    name: 'intents: what operators do with dead letters and retries, even with all of them, leaves intents alone',
    async run({ store }) {
      await parkBoth(store)
      const before = await store.parking.list({ kind: 'intent' })
      const { letters, retries } = operations(store)
      const who = { by: 'ada' }
      assert.deepEqual(keysOf(await letters.list()), ['m2'])
      assert.deepEqual(keysOf(await retries.list()), ['m1'])
      assert.deepEqual(
        (await letters.groups()).map((group) => [group.handler, group.count]),
        [[handler, 1]],
      )
      assert.equal((await letters.preview('all')).letters, 1)
      assert.equal(await retries.retryNow('all', who), 1)
      const unknown = { handler: effect, key: 'unknown' }
      assert.equal(await letters.get(unknown), undefined)
      const notFound = (error: unknown): boolean => isJustonceError(error, 'LETTERS_NONE_FOUND')
      await assert.rejects(letters.redrive(unknown, who), notFound)
      await assert.rejects(letters.discard(unknown, who), notFound)
      await assert.rejects(letters.redrive({ handler: effect, reason: 'INTENT_UNKNOWN' }, who), notFound)
      assert.equal((await letters.redrive('all', who)).selected, 1)
      for (const { id } of await letters.redrives()) await letters.stopRedrive(id, who)
      assert.equal(await letters.discard('all', who), 1)
      assert.deepEqual(await store.parking.list({ kind: 'intent' }), before)
    },
  },
]

async function parkBoth<Tx>(store: Store<Tx>): Promise<void> {
  await park(
    store,
    parkedMessage('m1'),
    parkedMessage('pending', { handler: effect }),
    parkedMessage('m2', { state: 'dead' }),
    parkedMessage('unknown', { handler: effect, state: 'dead', reason: 'INTENT_UNKNOWN' }),
  )
}
