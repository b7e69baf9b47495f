import assert from 'node:assert/strict'
import { isJustonceError } from '../../errors/index.ts'
import { countParked } from '../../operations/index.ts'
import { claim, parkedMessage, recordOf, request } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf } from '../waiting.ts'

export const schemaCases: readonly StoreCase[] = [
  {
    name: 'schema: installing again, from several processes at once, changes nothing',
    async run({ store, rival }) {
      await store.transaction(async (tx) => {
        await claim(store, tx, 'm1')
        await store.parking.park(tx, [parkedMessage('m1')])
      })
      await Promise.all([store, rival, store, rival].map((each) => each.schema.install()))
      await store.schema.check()
      assert.equal((await recordOf(store, request('m1')))?.state, 'processed')
      assert.equal(await countParked(rival), 1)
    },
  },
  {
    name: 'schema: several processes can install it at once in an empty database',
    needs: ['empty-database'],
    async run({ openEmpty }) {
      const [store, rival] = (await openEmpty?.()) ?? assert.fail()
      assert.ok(isJustonceError(await failureOf(store.schema.check(), 'a missing schema'), 'SCHEMA_MISSING'))
      await Promise.all([store, rival, store, rival, store, rival].map((each) => each.schema.install()))
      await rival.schema.check()
      assert.equal(await store.transaction((tx) => claim(store, tx, 'm1')), undefined)
      assert.equal((await rival.transaction((tx) => claim(rival, tx, 'm1')))?.state, 'processed')
    },
  },
  {
    name: 'schema: a claim without tables is an error, never a success',
    needs: ['empty-database'],
    async run({ openEmpty }) {
      const [store] = (await openEmpty?.()) ?? assert.fail()
      await failureOf(
        store.transaction((tx) => claim(store, tx, 'm1')),
        'a claim without a schema',
      )
    },
  },
  {
    name: 'schema: print prints every table',
    needs: ['tables'],
    async run({ store }) {
      const text = store.schema.print()
      const tables = ['inbox', 'parked', ...(store.queue ? ['queue'] : [])]
      for (const table of tables) assert.match(text, new RegExp(`create table[^(]*${table}`, 'i'), table)
      assert.equal(store.schema.print(), text)
    },
  },
]
