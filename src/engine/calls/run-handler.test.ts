import { expect, test } from 'vitest'
import { later, note, write } from '../../../test/app/open-app.ts'
import { openEngine } from '../../../test/app/open-engine.ts'
import { isJustonceError } from '../../errors/index.ts'
import { timeOfUuidV7, uuidv7 } from '../../ids/index.ts'
import { recordOf } from '../../testing/sample-records.ts'

test('what a handler publishes or registers after it has settled is refused and reported, not silently lost', async () => {
  const { on, handle, eventsOf, published } = openEngine()
  const settled = Promise.withResolvers<void>()
  const late: Promise<unknown>[] = []
  on('note.created', 'tag-note', (_, { publish, afterCommit }) => {
    late.push(settled.promise.then(() => publish('note.tagged', {})).catch((error: unknown) => error))
    // Out of a bare timer, where nobody could catch what it threw.
    late.push(settled.promise.then(() => afterCommit(() => expect.unreachable())))
  })
  await handle(note('m1'))
  settled.resolve()
  const errors = await Promise.all(late)
  expect(isJustonceError(errors[0], 'TX_CLOSED')).toBe(true)
  expect(errors[1]).toBeUndefined()
  expect(eventsOf('late-call')).toMatchObject([
    { handler: 'tag-note', error: { message: expect.stringContaining('called publish() after it had settled') } },
    { handler: 'tag-note', error: { message: expect.stringContaining('called afterCommit() after it had settled') } },
  ])
  expect(await published()).toEqual([])
})

/** What Node would have ended the process for. */
async function unhandled(work: () => Promise<void>): Promise<unknown[]> {
  const reasons: unknown[] = []
  const listeners = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', (reason) => void reasons.push(reason))
  try {
    await work()
    // They are reported when all microtasks have had their turn.
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  } finally {
    process.removeAllListeners('unhandledRejection')
    for (const listener of listeners) process.on('unhandledRejection', listener)
  }
  return reasons
}

test('what is published late and not awaited is reported, and does not end the process', async () => {
  const { on, handle, eventsOf, published } = openEngine()
  const settled = Promise.withResolvers<void>()
  on('note.created', 'tag-note', (_, { publish }) => {
    void settled.promise.then(() => void publish('note.tagged', {}))
  })
  const reasons = await unhandled(async () => {
    await handle(note('m1'))
    settled.resolve()
  })
  expect(reasons).toEqual([])
  expect(eventsOf('late-call')).toMatchObject([{ handler: 'tag-note', error: { code: 'TX_CLOSED' } }])
  expect(await published()).toEqual([])
})

test('a handler that takes too long is cut off by its signal, its effects are gone, and its neighbours are processed', async () => {
  const { on, handle, effects, store, clock, eventsOf, acknowledged } = openEngine()
  let reason: unknown
  on('note.created', { name: 'tag-note', timeoutMs: 500, ...later }, async ({ id }, { tx, signal }) => {
    write(tx, id)
    if (id === 'slow') await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    if (signal.aborted) reason = signal.reason
  })
  const handled = handle(note('m1'), note('slow'), note('m2'))
  await clock.advance(500)
  await handled
  expect(effects()).toEqual({ m1: 1, m2: 1 })
  expect(isJustonceError(reason, 'HANDLER_TIMEOUT')).toBe(true)
  expect(await store.parking.list()).toMatchObject([{ key: 'slow', reason: 'HANDLER_TIMEOUT', attempts: 1 }])
  expect(eventsOf('rolled-back').map(({ reason: why }) => why)).toEqual(['culprit'])
  expect(new Set(acknowledged())).toEqual(new Set(['m1', 'slow', 'm2']))
  // The timer that all calls share ends when nothing is left to watch.
  await clock.advance(500)
  expect(clock.waiting()).toBe(0)
})

test('a signal that is asked for late has been aborted in time', async () => {
  const { on, handle, clock } = openEngine()
  const seen: boolean[] = []
  on('note.created', { name: 'tag-note', timeoutMs: 500, ...later }, async (_, context) => {
    await clock.sleep(1_000)
    seen.push(context.signal.aborted)
  })
  const handled = handle(note('m1'))
  await clock.advance(1_000)
  await handled
  await clock.advance(0)
  expect(seen).toEqual([true])
})

test('a result that is kept is there as JSON, and nothing counts as null', async () => {
  const { on, handle, store } = openEngine()
  on('note.created', { name: 'tag-note', keepResult: true }, ({ id }) =>
    id === 'm1' ? { at: new Date(0) } : undefined,
  )
  on('note.created', 'count-notes', () => 'not kept')
  await handle(note('m1'), note('m2'))
  const results = ['tag-note m1', 'tag-note m2', 'count-notes m1'].map(async (name) => {
    const [handler = '', key = ''] = name.split(' ')
    return (await recordOf(store, { handler, key }))?.result
  })
  expect(await Promise.all(results)).toEqual(['{"at":"1970-01-01T00:00:00.000Z"}', 'null', undefined])
})

test('beforeEach comes before every handler, with its message and its transaction', async () => {
  const { on, onBatch, handle, effects } = openEngine({
    beforeEach: ({ id }, tx) => write(tx, `before ${id}`),
  })
  on('note.created', 'first', ({ id }, { tx }) => {
    if (!tx.has(`before ${id}`)) throw new Error('not yet')
  })
  onBatch('note.created', 'second', (messages, { tx }) => {
    for (const { id } of messages) if (tx.get(`before ${id}`) !== 2) throw new Error('not yet')
  })
  await handle(note('m1'), note('m2'))
  expect(effects()).toEqual({ 'before m1': 2, 'before m2': 2 })
})

test('a beforeEach that throws is a failure of that message', async () => {
  const { on, handle, effects, store } = openEngine({
    beforeEach: ({ id }) => {
      if (id === 'm1') throw new Error('no tenant')
    },
  })
  on('note.created', { name: 'tag-note', ...later }, ({ id }, { tx }) => write(tx, id))
  await handle(note('m1'), note('m2'))
  expect(effects()).toEqual({ m2: 1 })
  expect(await store.parking.list()).toMatchObject([{ key: 'm1', reason: 'HANDLER_FAILED' }])
})

test('an exactly-once handler publishes under new ids, an at-least-once one under ids that stay the same', async () => {
  const { on, handle, clock } = openEngine()
  const ids = { once: [] as string[], often: [] as string[] }
  const cause = uuidv7(Date.parse('2029-05-06T07:08:09Z'))
  on('note.created', { name: 'once', ...later }, async (_, { publish }) => {
    ids.once.push(await publish('a', {}), await publish('a', {}))
  })
  on('note.created', { name: 'often', delivery: 'at-least-once' }, async (_, { publish }) => {
    ids.often.push(await publish('a', {}), await publish('a', {}), await publish('b', {}))
  })
  // The second copy has another time: a producer that sends again sets it anew.
  await handle(note(cause, { sentAt: new Date(1) }))
  await clock.advance(100_000)
  await handle(note(cause, { sentAt: new Date(2) }))
  expect(new Set(ids.once).size).toBe(2)
  expect(ids.often).toHaveLength(6)
  expect(ids.often.slice(3)).toEqual(ids.often.slice(0, 3))
  expect(new Set(ids.often).size).toBe(3)
  for (const id of ids.often) expect(id.slice(0, 13)).toBe(cause.slice(0, 13))
  expect(timeOfUuidV7(cause)?.getUTCFullYear()).toBe(2029)
})

test('an at-least-once batch handler publishes under new ids: next time other messages may be with it', async () => {
  const { onBatch, handle } = openEngine()
  const ids: string[] = []
  onBatch('note.created', { name: 'often', delivery: 'at-least-once' }, async (messages, { publish }) => {
    ids.push(await publish('summary', messages.length))
  })
  await handle(note('m1'), note('m2'))
  await handle(note('m1'))
  expect(new Set(ids).size).toBe(2)
})

test.each([
  ['no type', ['', {}], 'OPTION_INVALID', /needs a type/],
  ['a body that JSON does not have', ['a', undefined], 'OPTION_INVALID', /the body is undefined/],
  ['an id that is none', ['a', {}, { id: 'x\0' }], 'MESSAGE_ID_INVALID', /The id of a message to publish/],
  [
    'a header that is not text',
    ['a', {}, { headers: { n: 5 } }],
    'OPTION_INVALID',
    /The header "n" of publish\(\) is number/,
  ],
  ['a key that is not text', ['a', {}, { key: 5 }], 'OPTION_INVALID', /key of publish\(\) is number/],
  ['a misspelt option', ['a', {}, { header: {} }], 'OPTION_UNKNOWN', /Did you mean headers\?/],
])('publishing with %s fails', async (_, given, code, text) => {
  const { on, handle } = openEngine()
  let failure: unknown
  on('note.created', { name: 'tag-note', ...later }, async (_message, { publish }) => {
    failure = await publish(...(given as Parameters<typeof publish>)).catch((error: unknown) => error)
  })
  await handle(note('m1'))
  expect(failure).toMatchObject({ code, message: expect.stringMatching(text) })
})

test('what cannot be published fails its handler, also where nobody awaits it', async () => {
  const { on, handle, store, effects, published } = openEngine()
  on('note.created', { name: 'tag-note', ...later }, ({ id }, { tx, publish }) => {
    write(tx, id)
    void publish('note.tagged', id === 'm1' ? 1n : {})
  })
  const reasons = await unhandled(async () => void (await handle(note('m1'), note('m2'))))
  expect(reasons).toEqual([])
  expect(effects()).toEqual({ m2: 1 })
  expect(await store.parking.list()).toMatchObject([{ key: 'm1', reason: 'HANDLER_FAILED' }])
  expect(await published()).toHaveLength(1)
})
