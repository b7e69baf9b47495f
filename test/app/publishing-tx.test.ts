import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { justonce } from '../../src/index.ts'
import { type MemoryTx, memoryStore, memoryTransport } from '../../src/memory.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'

const drizzle = { select() {}, insert() {}, session: {}, dialect: {} }

test('app.publish refuses a tx of the memory store that is over, and what is none', async () => {
  const store = memoryStore()
  const app = justonce({ store, to: memoryTransport() })
  const left = await store.transaction(async (tx) => tx)
  await expect(app.publish('note.tagged', {}, { tx: left })).rejects.toMatchObject({ code: 'TX_CLOSED' })
  await expect(app.publish('note.tagged', {}, { tx: {} as MemoryTx })).rejects.toThrow(
    'tx is an object, but must be one that a transaction of a memory store gives.',
  )
  expect(await store.queue.count('>memory')).toMatchObject({ ready: 0 })
})

test('app.publish refuses a SQLite database on which no transaction is open, and a handle around one', async () => {
  const database = new DatabaseSync(':memory:')
  const store = sqliteStore({ database, exclusive: true })
  await store.schema.install()
  const app = justonce({ store, to: memoryTransport() })
  const outside = app.publish('note.tagged', {}, { tx: database })
  await expect(outside).rejects.toMatchObject({ code: 'TX_NOT_OPEN' })
  await expect(app.publish('note.tagged', {}, { tx: drizzle as never })).rejects.toThrow(
    'tx is a handle of Drizzle, but must be the database of node:sqlite or better-sqlite3 on which the transaction was begun. It wraps the client',
  )
  expect(await store.queue.count('>memory')).toMatchObject({ ready: 0 })
  database.exec('BEGIN')
  await app.publish('note.tagged', {}, { tx: database })
  database.exec('COMMIT')
  expect(await store.queue.count('>memory')).toMatchObject({ ready: 1 })
  await store.close()
})
