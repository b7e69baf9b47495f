import { expect, test } from 'vitest'
import { JustonceError, justonce } from '../../src/index.ts'
import { MemoryDatabase, memoryStore } from '../../src/memory.ts'
import { later, write } from './open-app.ts'

function openApp() {
  const database = new MemoryDatabase()
  const store = memoryStore({ database })
  return { database, store, app: justonce({ store }) }
}

test('it runs one message through the engine, without a transport, and says what became of it', async () => {
  const { app, database } = openApp()
  app.on('note.created', 'tag-note', ({ body, source, headers }, { tx }) => {
    tx.set('seen', { body, source, headers })
    write(tx, 'runs')
  })
  const message = { id: 'm1', type: 'note.created', body: { a: 1 } }
  expect(await app.deliver(message)).toEqual({ handlers: { 'tag-note': { status: 'processed' } } })
  expect(await app.deliver(message)).toEqual({
    handlers: { 'tag-note': { status: 'duplicate', processedAt: expect.any(Date) } },
  })
  expect(await app.deliver({ ...message, body: { a: 2 } })).toEqual({
    handlers: { 'tag-note': { status: 'key-reused' } },
  })
  expect(database.committedValue('seen')).toEqual({ body: { a: 1 }, source: 'deliver', headers: {} })
  expect(database.committedValue('runs')).toBe(1)
})

test('it says what each handler made of it', async () => {
  const { app } = openApp()
  const error = new Error('no')
  app.on('note.created', 'first', () => {})
  app.on('note.created', { name: 'second', ...later }, () => {
    throw error
  })
  app.on('note.created', 'third', () => {})
  const message = { id: 'm1', type: 'note.created', body: {} }
  expect(await app.deliver(message)).toEqual({
    handlers: { first: { status: 'processed' }, second: { status: 'parked', error }, third: { status: 'parked' } },
  })
  expect((await app.deliver(message)).handlers).toEqual({
    first: { status: 'duplicate', processedAt: expect.any(Date) },
    second: { status: 'parked' },
    third: { status: 'parked' },
  })
})

test('it says why a message reached no handler', async () => {
  const { app } = openApp()
  app.on('note.created', 'tag-note', () => {})
  const { handlers, refused } = await app.deliver({ id: 'm1', type: 'no.such.type' })
  expect(handlers).toEqual({})
  expect(refused).toMatchObject({ code: 'TYPE_UNKNOWN' })
  expect((await app.deliver({ type: 'note.created', body: {} })).refused).toMatchObject({ code: 'MESSAGE_ID_MISSING' })
  const bytes = await app.deliver({ id: 'm2', type: 'note.created', body: Uint8Array.of(0x7b) })
  expect(bytes.refused).toMatchObject({ code: 'BODY_NOT_JSON' })
})

test('it says when an at-most-once handler has lost it', async () => {
  const { app } = openApp()
  const error = new Error('no')
  app.on('note.created', { name: 'ping', delivery: 'at-most-once' }, () => {
    throw error
  })
  expect(await app.deliver({ id: 'm1', type: 'note.created', body: {} })).toEqual({
    handlers: { ping: { status: 'lost', error } },
  })
})

test('hooks have run when it resolves', async () => {
  const { app } = openApp()
  const seen: string[] = []
  app.on('note.created', 'tag-note', (_, { afterCommit }) => {
    afterCommit(async () => {
      await new Promise((resolve) => setImmediate(resolve))
      seen.push('hook')
    })
  })
  await app.deliver({ id: 'm1', type: 'note.created', body: {} })
  expect(seen).toEqual(['hook'])
})

test('a message that somebody else is handling is reported as such', async () => {
  const { app, store } = openApp()
  store.inbox.claim = async () => {
    throw new JustonceError('STORE_BUSY', { message: 'A rival has it.' })
  }
  app.on('note.created', 'tag-note', () => {})
  await expect(app.deliver({ id: 'm1', type: 'note.created', body: {} })).rejects.toMatchObject({ code: 'CLAIM_HELD' })
})
