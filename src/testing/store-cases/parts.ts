import assert from 'node:assert/strict'
import type { Parts, Store } from '../../contracts/index.ts'
import { countParked } from '../../operations/index.ts'
import { claim, parkedMessage, present, recordOf, request, toQueue } from '../sample-records.ts'
import type { CaseNeed, StoreCase, StoreCaseContext } from '../store-case.ts'
import { failureOf } from '../waiting.ts'

export const partsCases: readonly StoreCase[] = [
  {
    name: 'parts: what is run behind a boundary that nobody has waited for belongs to the new part',
    needs: ['travelling-parts'],
    async run({ store, effects }) {
      await store.transaction(async (tx) => {
        const parts = partsOf(store)
        const boundaries = [parts.next(tx)]
        await effects.write(tx, 'm1')
        boundaries.push(parts.next(tx))
        await effects.write(tx, 'm2')
        boundaries.push(parts.undo(tx))
        await effects.write(tx, 'm3')
        boundaries.push(parts.undo(tx), parts.next(tx))
        await effects.write(tx, 'm4')
        boundaries.push(parts.undo(tx))
        await Promise.all(boundaries.slice(0, -1))
      })
      await countsAre(effects, { m1: 1, m2: 0, m3: 0, m4: 0 })
    },
  },
  {
    name: 'parts: behind a boundary that is refused nothing succeeds, until its part is undone',
    needs: ['travelling-parts', 'bad-write', 'poisoning'],
    async run({ store, effects }) {
      await store.transaction(async (tx) => {
        const parts = partsOf(store)
        await claim(store, tx, 'm1')
        await parts.next(tx)
        await effects.write(tx, 'm1')
        await effects.writeBadly?.(tx).catch(() => {})
        const boundary = failureOf(parts.next(tx), 'the boundary')
        await failureOf(effects.write(tx, 'm2'), 'a write behind it')
        assert.equal(((await boundary) as { readonly code?: string }).code, 'TX_ABORTED')
        void parts.undo(tx)
        await effects.write(tx, 'm3')
      })
      await countsAre(effects, { m1: 0, m2: 0, m3: 1 })
    },
  },
  {
    name: 'parts: undo rolls back its own part; the earlier and later ones stay',
    needs: ['parts'],
    async run({ store, effects }) {
      await store.transaction(async (tx) => {
        const parts = partsOf(store)
        await store.inbox.claim(tx, [request('m1'), request('m2'), request('m3')])
        await parts.next(tx)
        await effects.write(tx, 'm1')
        await parts.next(tx)
        await effects.write(tx, 'm2')
        await parts.undo(tx)
        await parts.next(tx)
        await effects.write(tx, 'm3')
      })
      await countsAre(effects, { m1: 1, m2: 0, m3: 1 })
      for (const key of ['m1', 'm2', 'm3'])
        assert.equal((await recordOf(store, request(key)))?.state, 'processed', 'claims stand before all parts')
    },
  },
  {
    name: 'parts: a part that was rolled back stays open: it can run again, and be rolled back again',
    needs: ['parts'],
    async run({ store, effects }) {
      await store.transaction(async (tx) => {
        const parts = partsOf(store)
        await claim(store, tx, 'm1')
        await parts.next(tx)
        await effects.write(tx, 'first try')
        await parts.undo(tx)
        await effects.write(tx, 'second try')
        await parts.undo(tx)
        await parts.undo(tx)
        await effects.write(tx, 'third try')
      })
      await countsAre(effects, { 'first try': 0, 'second try': 0, 'third try': 1 })
    },
  },
  {
    name: 'parts: undo rolls back what the store itself wrote in the part',
    needs: ['parts'],
    async run({ store }) {
      await store.transaction(async (tx) => {
        const parts = partsOf(store)
        await store.inbox.claim(tx, [request('m1'), request('m2')])
        await parts.next(tx)
        await claim(store, tx, 'm3')
        await store.inbox.update(tx, [{ ...request('m1'), state: 'parked', result: '1' }])
        await store.parking.park(tx, [parkedMessage('m1')])
        await store.queue?.send(tx, 'notes', [toQueue('q1')])
        await store.queue?.send(tx, '>notes', [toQueue('q2')])
        await parts.undo(tx)
      })
      const record = await recordOf(store, request('m1'))
      assert.deepEqual([record?.state, record?.result], ['processed', undefined])
      assert.equal(await recordOf(store, request('m3')), undefined)
      assert.equal(await countParked(store), 0)
      assert.deepEqual(await store.queue?.queues(), store.queue && [])
    },
  },
  {
    name: 'parts: of sixty parts with every third rolled back, exactly the others remain',
    needs: ['parts'],
    async run({ store, effects }) {
      await store.transaction(async (tx) => {
        const parts = partsOf(store)
        await claim(store, tx, 'm1')
        for (let index = 0; index < 60; index++) {
          await parts.next(tx)
          await effects.write(tx, index % 3 === 0 ? 'undone' : 'kept')
          if (index % 3 === 0) await parts.undo(tx)
        }
      })
      await countsAre(effects, { kept: 40, undone: 0 })
    },
  },
  {
    name: 'parts: work that throws rolls back all of them',
    needs: ['parts'],
    async run({ store, effects }) {
      const sorry = new Error('the work failed')
      const work = store.transaction(async (tx) => {
        const parts = partsOf(store)
        await claim(store, tx, 'm1')
        await parts.next(tx)
        await effects.write(tx, 'm1')
        await parts.next(tx)
        await effects.write(tx, 'm2')
        throw sorry
      })
      assert.equal(await failureOf(work, 'work that throws'), sorry)
      await countsAre(effects, { m1: 0, m2: 0 })
      assert.equal(await recordOf(store, request('m1')), undefined)
    },
  },
  {
    name: 'parts: a database error in one is rolled back with it; the earlier ones stay, and the next can run',
    needs: ['parts', 'bad-write'],
    async run(context) {
      const { store, effects } = context
      await withBadPart(context, async (tx, parts) => {
        await parts.undo(tx)
        await parts.next(tx)
        await effects.write(tx, 'm3')
      })
      await countsAre(effects, { m1: 1, m2: 0, m3: 1 })
      assert.equal((await recordOf(store, request('m1')))?.state, 'processed')
    },
  },
  {
    name: 'parts: next rejects after a swallowed database error, and undo makes the transaction usable again',
    needs: poisonedParts(),
    async run(context) {
      const { effects } = context
      await withBadPart(context, async (tx, parts) => {
        await failureOf(parts.next(tx), 'the end of a part that cannot be committed')
        await parts.undo(tx)
        await effects.write(tx, 'm2 again')
        await parts.next(tx)
        await effects.write(tx, 'm3')
      })
      await countsAre(effects, { m1: 1, m2: 0, 'm2 again': 1, m3: 1 })
    },
  },
  {
    name: 'parts: a swallowed database error in the last one is no success',
    needs: poisonedParts(),
    async run(context) {
      const { store, effects } = context
      await failureOf(
        withBadPart(context, async () => {}),
        'a spoilt transaction',
      )
      await countsAre(effects, { m1: 0, m2: 0 })
      assert.equal(await recordOf(store, request('m1')), undefined)
    },
  },
  {
    name: 'parts: what a borrower did in a part is rolled back with it',
    needs: ['parts', 'revocable'],
    async run({ store, effects }) {
      await store.transaction(async (tx) => {
        const parts = partsOf(store)
        await claim(store, tx, 'm1')
        for (const name of ['m1', 'm2', 'm3']) {
          await parts.next(tx)
          const loan = store.lend(tx, { borrower: name, onLateCall: () => {} })
          await effects.write(loan.tx, name)
          await loan.settled()
          loan.end()
          if (name === 'm2') await parts.undo(tx)
        }
      })
      await countsAre(effects, { m1: 1, m2: 0, m3: 1 })
    },
  },
]

function poisonedParts(): readonly CaseNeed[] {
  return ['parts', 'bad-write', 'poisoning']
}

/** One good part, then one whose database error was swallowed. The case decides the rest. */
function withBadPart<Tx>(
  { store, effects }: StoreCaseContext<Tx>,
  goOn: (tx: Tx, parts: Parts<Tx>) => Promise<void>,
): Promise<void> {
  return store.transaction(async (tx) => {
    const parts = partsOf(store)
    await claim(store, tx, 'm1')
    await parts.next(tx)
    await effects.write(tx, 'm1')
    await parts.next(tx)
    await effects.write(tx, 'm2')
    await failureOf(effects.writeBadly?.(tx) ?? Promise.resolve(), 'the bad statement')
    await goOn(tx, parts)
  })
}

function partsOf<Tx>(store: Store<Tx>): Parts<Tx> {
  return present(store.parts, 'store.parts')
}

async function countsAre<Tx>(
  effects: StoreCaseContext<Tx>['effects'],
  expected: Readonly<Record<string, number>>,
): Promise<void> {
  const counts: Record<string, number> = {}
  for (const name of Object.keys(expected)) counts[name] = await effects.count(name)
  assert.deepEqual(counts, expected)
}
