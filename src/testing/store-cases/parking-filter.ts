import assert from 'node:assert/strict'
import type { ParkedFilter, Store } from '../../contracts/index.ts'
import { countParked } from '../../operations/index.ts'
import { handler, packed, parkedMessage, request } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { again, change, keysOf, listedKeys, park, rowOf } from './parked-rows.ts'
import { release, start } from './redrive-steps.ts'

export const parkingFilterCases: readonly StoreCase[] = [
  {
    name: 'filter: each field finds the rows that match it, in the order of parking, and all fields together those that match all',
    async run({ store }) {
      const another = {
        messageId: 'id 2',
        type: 'note.deleted',
        source: 'hooks',
        shape: 'other',
        orderKey: 'b',
        businessId: 'order 7',
      }
      await park(
        store,
        parkedMessage('m3'),
        parkedMessage('m1', { ...another, handler: 'count-notes', state: 'dead', reason: 'HANDLER_TIMEOUT' }),
        parkedMessage('m2', { ...another, orderKey: 'B', messageId: 'ID 2', businessId: 'ORDER 7' }),
        parkedMessage('m1'),
      )
      const finds: readonly [ParkedFilter, readonly string[]][] = [
        [{}, ['m3', 'm1', 'm2', 'm1']],
        [{ state: 'waiting' }, ['m3', 'm2', 'm1']],
        [{ state: 'dead' }, ['m1']],
        [{ handler }, ['m3', 'm2', 'm1']],
        [{ type: 'note.deleted' }, ['m1', 'm2']],
        [{ source: 'hooks' }, ['m1', 'm2']],
        [{ reason: 'HANDLER_TIMEOUT' }, ['m1']],
        [{ shape: 'other' }, ['m1', 'm2']],
        [{ key: 'm1' }, ['m1', 'm1']],
        [{ messageId: 'id 2' }, ['m1']],
        [{ orderKey: 'b' }, ['m1']],
        [{ businessId: 'order 7' }, ['m1']],
        [{ businessId: 'order' }, []],
        [{ key: 'm1', handler }, ['m1']],
        [{ type: 'note.deleted', state: 'waiting', source: 'hooks' }, ['m2']],
        [{ type: 'note.deleted', source: 'notes' }, []],
        [{ handler: 'no such' }, []],
        [{ state: undefined, handler: undefined, keys: undefined, since: undefined }, ['m3', 'm1', 'm2', 'm1']],
      ]
      for (const [filter, keys] of finds) {
        assert.deepEqual(await listedKeys(store, filter), keys, JSON.stringify(filter))
        assert.equal(await countParked(store, filter), keys.length, JSON.stringify(filter))
      }
    },
  },
  {
    name: 'filter: errorText is found as it is spelled, whatever it means to the database or to JSON',
    async run({ store }) {
      const texts = [
        '100% sure',
        '1000 sure',
        'a_b',
        'a-b',
        'back\\slash',
        'backslash',
        `it's "so"`,
        'Timeout',
        '*.[a]?',
      ]
      const history = (message: string) => JSON.stringify([{ at: '2030-01-01T00:00:00.000Z', message }])
      const rows = texts.map((text, index) => parkedMessage(`m${index}`, { errors: history(text) }))
      await park(store, ...rows)
      const find = (errorText: string) => listedKeys(store, { errorText })
      for (const [index, text] of texts.entries()) assert.deepEqual(await find(text), [`m${index}`], text)
      assert.deepEqual(await find('1000'), ['m1'])
      assert.deepEqual(await find('sure'), ['m0', 'm1'])
      assert.deepEqual(await find('%'), ['m0'])
      assert.deepEqual(await find('a_'), ['m2'])
      assert.deepEqual(await find('\\'), ['m4'])
      assert.deepEqual(await find('\\%'), [])
      assert.deepEqual(await find('timeout'), [])
      assert.deepEqual(await find('[a]'), ['m8'])
      assert.equal(await countParked(store, { errorText: 'sure', key: 'm1' }), 1)
    },
  },
  {
    name: 'filter: since is inclusive and before is exclusive, by changedAt',
    async run({ store }) {
      await park(store, parkedMessage('m1'), parkedMessage('m2'))
      const { changedAt: earlier } = await rowOf(store, 'm1')
      const later = await eventually(async () => {
        await change(store, again('m2'))
        const { changedAt } = await rowOf(store, 'm2')
        return changedAt > earlier ? changedAt : undefined
      }, 'a later change')
      assert.deepEqual(await listedKeys(store, { since: earlier }), ['m1', 'm2'])
      assert.deepEqual(await listedKeys(store, { since: later }), ['m2'])
      assert.deepEqual(await listedKeys(store, { before: later }), ['m1'])
      assert.deepEqual(await listedKeys(store, { before: earlier }), [])
      assert.deepEqual(await listedKeys(store, { since: earlier, before: later }), ['m1'])
      assert.equal(await countParked(store, { since: later }), 1)
    },
  },
  {
    name: 'filter: of the given keys, exactly those that match the rest are found, and an empty list finds nothing',
    async run({ store }) {
      for (const key of ['m1', 'm2', 'm3']) await park(store, parkedMessage(key), ofAnother(key))
      const keys = [request('m3'), ofAnother('m1'), request('gone'), request('m2'), ofAnother('M2')]
      const found = await store.parking.list({ keys })
      assert.deepEqual(
        found.map((row) => [row.handler, row.key]),
        [
          ['another', 'm1'],
          [handler, 'm2'],
          [handler, 'm3'],
        ],
      )
      assert.deepEqual(await listedKeys(store, { keys, handler }), ['m2', 'm3'])
      assert.equal(await countParked(store, { keys, state: 'dead' }), 1)
      assert.deepEqual(await listedKeys(store, { keys: [] }), [])
      assert.equal(await countParked(store, { keys: [] }), 0)
    },
  },
  {
    name: 'filter: a redrive finds what was selected for it',
    async run({ store }) {
      for (const key of ['m1', 'm2', 'm3']) await park(store, ofAnother(key))
      await start(store, 'r1', { key: 'm2' })
      assert.deepEqual(await listedKeys(store, { redrive: 'r1' }), ['m2'])
      assert.equal((await rowOf(store, 'm2', 'another')).redrive, 'r1')
      assert.equal(await countParked(store, { redrive: 'r2' }), 0)
      assert.deepEqual(await listedKeys(store, { notInRedrives: ['r1', 'r2'] }), ['m1', 'm3'])
      assert.equal(await countParked(store, { notInRedrives: [] }), 3)
      await release(store, 'r1')
      assert.deepEqual(await listedKeys(store, { released: true }), ['m2'])
      assert.deepEqual(await listedKeys(store, { released: false, notInRedrives: ['r2'] }), ['m1', 'm3'])
    },
  },
  {
    name: 'tally: one answer for each combination, the largest first, up to the limit, with the first and the last time',
    async run({ store, rival }) {
      assert.deepEqual(await store.parking.tally({}, []), [])
      assert.deepEqual(await store.parking.tally({}, ['state']), [])
      const tried = (key: string) => parkedMessage(key, { attempts: 2 })
      await park(store, parkedMessage('m1'), tried('m2'), tried('m3'), tried('m4'))
      await park(rival, ...['m5', 'm6'].map((key) => parkedMessage(key, { state: 'dead', attempts: 2 })))
      const tally = await rival.parking.tally({}, ['state', 'attempts', 'released'])
      assert.deepEqual(
        tally.map(({ state, attempts, released, count }) => [state, attempts, released, count]),
        [
          ['waiting', 2, false, 3],
          ['dead', 2, false, 2],
          ['waiting', 1, false, 1],
        ],
      )
      assert.deepEqual(await store.parking.tally({}, ['state', 'attempts', 'released'], 1), tally.slice(0, 1))
      const rows = await store.parking.list({ state: 'waiting' })
      const [waiting] = await store.parking.tally({ state: 'waiting' }, ['state'])
      assert.deepEqual(waiting, {
        state: 'waiting',
        count: 4,
        firstAt: new Date(Math.min(...rows.map(({ parkedAt }) => parkedAt.getTime()))),
        lastAt: new Date(Math.max(...rows.map(({ changedAt }) => changedAt.getTime()))),
      })
      assert.deepEqual(await store.parking.tally({ state: 'dead' }, []), [{ count: 2 }])
    },
  },
  {
    name: 'waiting: how many messages of each type wait for each handler, without dead letters',
    async run({ store, rival }) {
      assert.deepEqual(await waitingIn(store), [])
      await park(store, parkedMessage('m1'), parkedMessage('m2', { delayMs: 60_000 }), ofAnother('m1'))
      await park(rival, parkedMessage('m1', { handler: 'third' }), parkedMessage('m3', { state: 'dead' }))
      await park(rival, parkedMessage('m4', { type: 'note.Created' }))
      const waiting = await waitingIn(rival)
      assert.deepEqual(
        waiting.toSorted((a, b) => (`${a.handler} ${a.type}` < `${b.handler} ${b.type}` ? -1 : 1)),
        [
          { handler, type: 'note.Created', count: 1 },
          { handler, type: 'note.created', count: 2 },
          { handler: 'third', type: 'note.created', count: 1 },
        ],
      )
    },
  },
  {
    name: 'paging: page by page, every row comes once, in the order of parking, even if rows disappear in between',
    async run({ store }) {
      for (const key of ['m5', 'm1', 'm4', 'm2', 'm3']) await park(store, parkedMessage(key), ofAnother(key))
      const first = await store.parking.list({ handler }, { limit: 2 })
      await change(store, { ...request(first[1]?.key ?? ''), kind: 'done' })
      const second = await store.parking.list({ handler }, { limit: 2, after: first[1]?.sequence ?? 0 })
      const third = await store.parking.list({ handler }, { limit: 2, after: second[1]?.sequence ?? 0 })
      assert.deepEqual([first, second, third].map(keysOf), [['m5', 'm1'], ['m4', 'm2'], ['m3']])
      assert.deepEqual(await store.parking.list({ handler }, { after: third[0]?.sequence ?? 0 }), [])
    },
  },
  {
    name: 'paging: the bytes of a page are limited, but one row is always returned',
    async run({ store }) {
      const sized = (key: string, bytes: number) => parkedMessage(key, { message: packed('x'.repeat(bytes)) })
      await park(store, sized('m1', 20_000), ofAnother('m1'), sized('m2', 20_000), sized('m3', 20_000), sized('m4', 1))
      const pages: string[][] = []
      for (let after = 0; ; ) {
        const page = await store.parking.list(
          { handler },
          { limit: 10, after, maxBytes: pages.length === 0 ? 60_000 : 1 },
        )
        const last = page.at(-1)
        if (last === undefined) break
        after = last.sequence
        pages.push(keysOf(page))
      }
      assert.deepEqual(pages, [['m1', 'm2'], ['m3'], ['m4']])
    },
  },
  {
    name: 'paging: a list has at most 1,000 rows by default, and a tally counts all',
    async run({ store }) {
      const rows = Array.from({ length: 1_001 }, (_, index) => parkedMessage(`m${index}`))
      await park(store, ...rows)
      assert.equal((await store.parking.list()).length, 1_000)
      assert.equal((await store.parking.list({}, { limit: 2_000 })).length, 1_001)
      assert.equal(await countParked(store), 1_001)
    },
  },
]

const ofAnother = (key: string) => parkedMessage(key, { handler: 'another', state: 'dead' })

async function waitingIn<Tx>({ parking }: Store<Tx>) {
  const waiting = await parking.tally({ state: 'waiting' }, ['handler', 'type'])
  return waiting.map(({ handler, type, count }) => ({ handler, type, count }))
}
