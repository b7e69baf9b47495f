import assert from 'node:assert/strict'
import type { ParkedFilter, Store } from '../../contracts/index.ts'
import { type LetterGroup, operations } from '../../operations/index.ts'
import { handler, parkedMessage } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { change, dead, park, rowOf } from './parked-rows.ts'
import { bury } from './redrive-steps.ts'

const ofShape = (key: string, shape: string, reason = 'HANDLER_FAILED') =>
  parkedMessage(key, { state: 'dead', shape, reason })

export const letterGroupCases: readonly StoreCase[] = [
  {
    name: 'groups: dead letters with the same handler, reason and shape form one group; the largest come first, up to the limit',
    async run({ store }) {
      await park(store, ofShape('m1', 'a'), ofShape('m2', 'b'), ofShape('m3', 'b'), ofShape('m4', 'b'))
      await park(store, ofShape('m5', 'a'), ofShape('m6', 'b', 'HANDLER_TIMEOUT'), parkedMessage('m7', { shape: 'a' }))
      await park(store, ...['m8', 'm9', 'm10', 'm11'].map((key) => ({ ...ofShape(key, 'a'), handler: 'another' })))
      const groups = await groupsOf(store)
      assert.deepEqual(
        groups.map((group) => [group.handler, group.reason, group.shape, group.count]),
        [
          ['another', 'HANDLER_FAILED', 'a', 4],
          [handler, 'HANDLER_FAILED', 'b', 3],
          [handler, 'HANDLER_FAILED', 'a', 2],
          [handler, 'HANDLER_TIMEOUT', 'b', 1],
        ],
      )
      assert.deepEqual(await groupsOf(store, {}, 2), groups.slice(0, 2))
      assert.deepEqual(await counts(store, { handler, reason: 'HANDLER_FAILED' }), { a: 2, b: 3 })
      assert.deepEqual(await groupsOf(store, { handler: 'no such' }), [])
    },
  },
  {
    name: 'groups: rows are counted by their order key, the largest first; those without one have none',
    async run({ store }) {
      const ofKey = (key: string, orderKey: string | undefined) => ({ ...parkedMessage(key), orderKey })
      await park(store, ofKey('m1', 'a'), ofKey('m2', 'B'), ofKey('m3', 'B'), ofKey('m4', 'b'), ofKey('m5', undefined))
      await park(store, ofKey('m6', 'B'), { ...ofKey('m7', 'a'), handler: 'another' }, ofKey('m8', undefined))
      const tallies = await store.parking.tally({ handler }, ['handler', 'orderKey'])
      const found = tallies.map(({ orderKey, count }) => [orderKey, count])
      assert.deepEqual(found.slice(0, 2), [
        ['B', 3],
        [undefined, 2],
      ])
      assert.deepEqual(
        new Map(found.slice(2) as [string, number][]),
        new Map([
          ['a', 1],
          ['b', 1],
        ]),
      )
      assert.deepEqual(await store.parking.tally({ orderKey: 'B' }, ['handler', 'orderKey'], 1), tallies.slice(0, 1))
    },
  },
  {
    name: 'groups: firstAt is when the first was parked, lastAt when the last was given up',
    async run({ store }) {
      await bury(store, 'm1')
      await park(store, parkedMessage('m2'))
      const { parkedAt, changedAt } = await rowOf(store, 'm1')
      const last = await eventually(async () => {
        await change(store, dead('m2'))
        const row = await rowOf(store, 'm2')
        return row.changedAt > changedAt ? row.changedAt : undefined
      }, 'a later death')
      const [group] = await groupsOf(store)
      assert.deepEqual([group?.count, group?.firstAt, group?.lastAt], [2, parkedAt, last])
    },
  },
  {
    name: 'groups: a note belongs to one group; a later one replaces it, and an empty one removes it',
    async run({ store, rival }) {
      await park(store, ofShape('m1', 'a'), ofShape('m2', 'b'), ofShape('m3', 'b', 'HANDLER_TIMEOUT'))
      await park(store, { ...ofShape('m4', 'b'), handler: 'another' })
      await annotate(store, group('b'), 'the first')
      await annotate(rival, group('b'), `ask 'ana' about 100%; 😀`)
      const noted = async () =>
        (await operations(rival).letters.groups())
          .filter(({ note }) => note !== undefined)
          .map(({ note, ...rest }) => [rest.handler, rest.reason, rest.shape, note])
      assert.deepEqual(await noted(), [[handler, 'HANDLER_FAILED', 'b', `ask 'ana' about 100%; 😀`]])
      await annotate(store, group('b'), '')
      await annotate(store, group('a'), '')
      assert.deepEqual(await noted(), [])
    },
  },
  {
    name: 'groups: a note outlives its letters and is still there when others fail in the same way',
    async run({ store }) {
      await bury(store, 'm1')
      await annotate(store, group('no'), 'known')
      await store.transaction((tx) => store.parking.edit(tx, {}, { kind: 'remove' }, 10))
      assert.deepEqual(await groupsOf(store), [])
      await bury(store, 'm2')
      assert.deepEqual(
        (await operations(store).letters.groups()).map(({ count, note }) => [count, note]),
        [[1, 'known']],
      )
    },
  },
]

function group(shape: string): LetterGroup {
  return { handler, reason: 'HANDLER_FAILED', shape }
}

function groupsOf<Tx>({ parking }: Store<Tx>, filter: ParkedFilter = {}, limit = 10) {
  return parking.tally({ ...filter, state: 'dead' }, ['handler', 'reason', 'shape'], limit)
}

function annotate<Tx>(store: Store<Tx>, of: LetterGroup, note: string): Promise<void> {
  return operations(store).letters.annotate(of, note, { by: 'ana' })
}

async function counts<Tx>(store: Store<Tx>, filter: Partial<LetterGroup>): Promise<Record<string, number>> {
  const groups = await groupsOf(store, filter)
  return Object.fromEntries(groups.map(({ shape, count }) => [shape, count]))
}
