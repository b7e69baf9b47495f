import { describe, expect, test } from 'vitest'
import { type SqliteStore, sqliteStore } from '../../src/stores/sqlite/index.ts'
import { handler, parkedMessage, request, toQueue } from '../../src/testing/sample-records.ts'
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

describe('a trigger that leaves undone what the store asks for is reported, and nothing done along with it stays', () => {
  type Database = import('node:sqlite').DatabaseSync
  type Store = SqliteStore<Database>
  const position = { next: '1', incarnation: 'i' }

  test.each<{ what: string; on: string; before?: (store: Store) => Promise<unknown>; work: Work }>([
    { what: 'INSERT', on: 'inbox', work: (store, tx) => store.inbox.claim(tx, [request('m1')]) },
    {
      what: 'UPDATE',
      on: 'inbox',
      before: (store) => store.transaction((tx) => store.inbox.claim(tx, [request('m1')])),
      work: (store, tx) => store.inbox.update(tx, [{ ...request('m1'), state: 'parked' }]),
    },
    {
      what: 'DELETE',
      on: 'inbox',
      before: (store) => store.transaction((tx) => store.inbox.claim(tx, [request('m1')])),
      work: (store, tx) => store.inbox.update(tx, [{ ...request('m1'), state: 'unclaimed' }]),
    },
    { what: 'INSERT', on: 'parked', work: (store, tx) => store.parking.park(tx, [parkedMessage('m1')]) },
    { what: 'INSERT', on: 'queue', work: (store, tx) => store.queue.send(tx, 'notes', [toQueue('m1')]) },
    {
      what: 'INSERT',
      on: 'positions',
      work: (store, tx) =>
        store.positions?.move(tx, 'app', [{ source: 's', partition: '0', expected: undefined, to: position }]),
    },
    {
      what: 'INSERT',
      on: 'facts',
      work: (store, tx) => store.facts.change(tx, [{ name: 'lease x', from: undefined, value: '1', forMs: undefined }]),
    },
  ])('$what into justonce_$on', async ({ what, on, before, work }) => {
    await using given = await open()
    const { store } = given
    await before?.(store)
    await store.transaction(async (tx) => {
      tx.exec('CREATE TABLE effects (name TEXT)')
      tx.exec(`CREATE TRIGGER keep BEFORE ${what} ON justonce_${on} BEGIN SELECT RAISE(IGNORE); END`)
    })
    const whole = store.transaction(async (tx) => {
      tx.exec(`INSERT INTO effects VALUES ('m1')`)
      await work(store, tx)
    })
    await expect(whole).rejects.toMatchObject({ code: 'STORE_DENIED' })
    expect(await store.transaction(async (tx) => tx.prepare('SELECT * FROM effects').all())).toEqual([])
  })

  test('UPDATE of justonce_queue: a take that takes nothing of what is there', async () => {
    await using given = await open()
    const { store } = given
    await store.queue.send(undefined, 'notes', [toQueue('m1')])
    await store.transaction(async (tx) =>
      tx.exec('CREATE TRIGGER keep BEFORE UPDATE ON justonce_queue BEGIN SELECT RAISE(IGNORE); END'),
    )
    await expect(store.queue.take('notes', { limit: 1, visibilityMs: 30_000 })).rejects.toMatchObject({
      code: 'STORE_DENIED',
    })
  })

  test.each([
    { how: 'whatever has become of it', still: () => undefined },
    { how: 'if it is still there', still: (ticket: string) => ({ present: [ticket] }) },
    { how: 'if it is still taken', still: () => ({ deliveries: 1 }) },
  ])('DELETE from justonce_queue, $how', async ({ still }) => {
    await using given = await open()
    const { store } = given
    await store.queue.send(undefined, 'notes', [toQueue('m1')])
    const [taken] = await store.queue.take('notes', { limit: 1, visibilityMs: 30_000 })
    await store.transaction(async (tx) =>
      tx.exec('CREATE TRIGGER keep BEFORE DELETE ON justonce_queue BEGIN SELECT RAISE(IGNORE); END'),
    )
    const ticket = taken?.ticket as string
    const work = store.transaction((tx) => store.queue.remove(tx, 'notes', [ticket], still(ticket)))
    await expect(work).rejects.toMatchObject({ code: 'STORE_DENIED' })
  })

  type Work = (store: Store, tx: Database) => Promise<unknown> | undefined

  async function open(): Promise<{ store: Store } & AsyncDisposable> {
    const folder = scratchFolder()
    const store = sqliteStore({ path: folder.file('app.db') })
    await store.schema.install()
    return {
      store,
      async [Symbol.asyncDispose]() {
        await store.close()
        folder.remove()
      },
    }
  }
})
