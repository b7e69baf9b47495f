import { expect, test } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { handler, parkedMessage } from '../../src/testing/sample-records.ts'
import { scratchFolder } from './open-sqlite.ts'

const failed = { attempts: 2, reason: 'HANDLER_FAILED', shape: 'Error', errors: '[]' } as const

test.each([
  { what: 'DELETE', change: { kind: 'done', handler, key: 'm1' } },
  { what: 'UPDATE', change: { kind: 'again', handler, key: 'm1', delayMs: 0, ...failed } },
] as const)(
  'a trigger that swallows a $what of a parked message undoes what was done along with it',
  async ({ what, change }) => {
    const folder = scratchFolder()
    const store = sqliteStore({ path: folder.file('app.db') })
    await store.schema.install()
    await store.transaction(async (tx) => {
      tx.exec('CREATE TABLE effects (name TEXT)')
      tx.exec(`CREATE TRIGGER keep BEFORE ${what} ON justonce_parked BEGIN SELECT RAISE(IGNORE); END`)
      await store.parking.park(tx, [parkedMessage('m1')])
    })
    const work = store.transaction(async (tx) => {
      tx.exec(`INSERT INTO effects VALUES ('m1')`)
      await store.parking.change(tx, [change])
    })
    await expect(work).rejects.toMatchObject({ code: 'STORE_DENIED' })
    expect(await store.transaction(async (tx) => tx.prepare('SELECT * FROM effects').all())).toEqual([])
    await store.close()
    folder.remove()
  },
)
