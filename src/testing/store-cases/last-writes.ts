import assert from 'node:assert/strict'
import type { LastWrites, Store } from '../../contracts/index.ts'
import { claim, claimAndWrite, parkedMessage, recordOf, request, toQueue } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'

const result = { ...request('m1'), state: 'processed', result: '7', claimed: true } as const

/** An error that says which write it is blamed on. */
class Blamed extends Error {}

function blame(name: string): (error: unknown) => unknown {
  return (cause) => new Blamed(name, { cause })
}

async function rejection(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => assert.fail('it has committed'),
    (error: unknown) => error,
  )
}

/** Runs the work, with a `lastWrites` that does nothing if the store gives none. */
function withLastWrites<Tx, T>(store: Store<Tx>, work: (tx: Tx, lastWrites: LastWrites) => Promise<T>): Promise<T> {
  return store.transaction((tx, lastWrites = () => {}) => work(tx, lastWrites))
}

export const lastWriteCases: readonly StoreCase[] = [
  {
    name: 'last writes: all of them are there after the commit, with what was written before',
    needs: ['queue'],
    async run({ store, rival, effects }) {
      await store.transaction((tx) => store.parking.park(tx, [parkedMessage('m3'), parkedMessage('m4')]))
      await store.facts.change(undefined, [{ name: 'suspect 1', from: undefined, value: '1', forMs: 60_000 }])
      await withLastWrites(store, async (tx, lastWrites) => {
        await store.inbox.claim(tx, [request('m1'), request('m2'), request('m5')])
        await effects.write(tx, 'm1')
        lastWrites(blame('records'))
        await store.inbox.update(tx, [
          result,
          { ...request('m2'), state: 'parked', claimed: true },
          { ...request('m5'), state: 'unclaimed', claimed: true },
        ])
        lastWrites(blame('the rest'))
        await store.parking.park(tx, [parkedMessage('m2')])
        await store.parking.change(tx, [
          { handler: request('m3').handler, key: 'm3', kind: 'done' },
          { ...parkedMessage('m4'), kind: 'dead', attempts: 2 },
        ])
        await store.facts.remove(tx, ['suspect 1'])
        await store.queue?.send(tx, 'notes', [toQueue('m6')])
      })
      assert.equal(await effects.count('m1'), 1)
      assert.deepEqual(
        (await rival.inbox.find(['m1', 'm2', 'm5'].map((key) => request(key)))).map((record) => record?.state),
        ['processed', 'parked', undefined],
      )
      assert.equal((await recordOf(rival, request('m1')))?.result, '7')
      const rows = (await rival.parking.list()).map(({ key, state }) => `${key} ${state}`)
      assert.deepEqual(rows.toSorted(), ['m2 waiting', 'm4 dead'])
      assert.deepEqual(await rival.facts.read(['suspect 1']), [undefined])
      assert.equal((await rival.queue?.count('notes'))?.ready, 1)
    },
  },
  {
    name: 'last writes: if one fails, nothing is committed, and the error is what is made of it',
    needs: ['last-writes', 'queue'],
    async run({ store, rival, effects }) {
      const work = withLastWrites(store, async (tx, lastWrites) => {
        await claim(store, tx, 'm2')
        await effects.write(tx, 'm1')
        lastWrites(blame('messages'))
        await store.queue?.send(tx, 'notes', [toQueue('m2')])
        lastWrites(blame('records'))
        // Nobody has claimed it.
        await store.inbox.update(tx, [result])
        lastWrites(blame('parked'))
        await store.parking.park(tx, [parkedMessage('m2')])
      })
      const error = await rejection(work)
      assert.ok(error instanceof Blamed, String(error))
      assert.equal(error.message, 'records')
      assert.equal(await effects.count('m1'), 0)
      assert.equal((await rival.queue?.count('notes'))?.ready, 0)
      assert.deepEqual(await rival.parking.list(), [])
      assert.equal(await recordOf(rival, request('m2')), undefined)
      // The connection is as good as before.
      await claimAndWrite({ effects }, store, 'm2')
      assert.equal(await effects.count('m2'), 1)
    },
  },
  {
    name: 'last writes: what the commit itself fails with is not blamed on them',
    needs: ['deferred-failure'],
    async run({ store, rival, effects }) {
      const work = withLastWrites(store, async (tx, lastWrites) => {
        await claim(store, tx, 'm1')
        await effects.writeFailingAtCommit?.(tx)
        lastWrites(blame('records'))
        await store.inbox.update(tx, [result])
      })
      assert.ok(!((await rejection(work)) instanceof Blamed))
      assert.equal(await recordOf(rival, request('m1')), undefined)
    },
  },
  {
    name: 'last writes: a database error that was swallowed before is not blamed on them',
    needs: ['last-writes', 'bad-write', 'poisoning'],
    async run({ store, rival, effects }) {
      const work = withLastWrites(store, async (tx, lastWrites) => {
        await claim(store, tx, 'm1')
        await effects.writeBadly?.(tx).catch(() => {})
        lastWrites(blame('records'))
        await store.inbox.update(tx, [result])
      })
      const error = await rejection(work)
      assert.equal((error as { readonly code?: string }).code, 'TX_ABORTED')
      assert.equal(await recordOf(rival, request('m1')), undefined)
    },
  },
]
