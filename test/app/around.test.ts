import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Around, PermanentError } from '../../src/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { later, note, openApp, write } from './open-app.ts'

test('around wraps every call of a handler, in its own asynchronous context', async () => {
  const current = new AsyncLocalStorage<string>()
  const seen: unknown[] = []
  const around: Around = (message, next, { handler, attempt, messages }) => {
    seen.push([handler, message.id, attempt, messages.length])
    return current.run(`${handler} ${message.id}`, next)
  }
  const { app, handle } = openApp({ around, beforeEach: () => void seen.push(current.getStore()) })
  app.on('note.created', 'tag-note', async () => {
    await nextTurn()
    seen.push(current.getStore())
  })
  await handle(note('m1'), note('m2'))
  expect(seen).toEqual([
    ...[['tag-note', 'm1', 1, 1], 'tag-note m1', 'tag-note m1'],
    ...[['tag-note', 'm2', 1, 1], 'tag-note m2', 'tag-note m2'],
  ])
})

test('around is called once for a batch handler, with all its messages', async () => {
  const seen: unknown[] = []
  const around: Around = (message, next, { messages }) => {
    seen.push([message.id, messages.map(({ id }) => id)])
    return next()
  }
  const { app, handle } = openApp({ around })
  app.onBatch('note.created', 'tag-notes', () => {})
  await handle(note('m1'), note('m2'))
  expect(seen).toEqual([['m1', ['m1', 'm2']]])
})

const error = new Error('of the handler')
const translated = new PermanentError('of around')

test.each<[string, Around, object]>([
  ['what around throws before', () => Promise.reject(translated), { state: 'dead', error: translated }],
  [
    'what around throws instead',
    (_, next) => next().catch(() => Promise.reject(translated)),
    { state: 'dead', error: translated },
  ],
  [
    'what around throws while the handler runs',
    (_, next) => {
      void next()
      throw translated
    },
    { state: 'dead', error: translated },
  ],
  [
    'what the handler throws, also if it is swallowed',
    (_, next) => next().catch(() => {}),
    { state: 'waiting', error },
  ],
  ['what the handler throws, also if nobody waits for it', (_, next) => void next(), { state: 'waiting', error }],
  ['that it was not called', () => {}, { state: 'waiting', reason: 'AROUND_INCOMPLETE' }],
  [
    'that it was called twice',
    async (_, next) => {
      await next().catch(() => {})
      await next()
    },
    { state: 'waiting', reason: 'AROUND_INCOMPLETE' },
  ],
])('the failure of a handler is %s, and nothing of it is kept', async (_, around, parked) => {
  const { app, handle, effects, eventsOf } = openApp({ around })
  app.on('note.created', { name: 'tag-note', ...later }, async ({ id }, { tx }) => {
    write(tx, id)
    await nextTurn()
    throw error
  })
  await handle(note('m1'))
  expect(eventsOf('parked')).toMatchObject([parked])
  expect(effects()).toEqual({})
})

test('the result of a handler is kept although around returns nothing', async () => {
  const { app, store, handle } = openApp({
    around: async (_, next) => {
      await next()
    },
  })
  app.on('note.created', { name: 'tag-note', keepResult: true }, () => ({ tags: 3 }))
  await handle(note('m1'))
  expect(await recordOf(store, { handler: 'tag-note', key: 'm1' })).toMatchObject({ result: '{"tags":3}' })
})
