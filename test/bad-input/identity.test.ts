import { expect, test } from 'vitest'
import * as z from 'zod'
import { byContent, byPosition } from '../../src/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { note, openApp, write } from '../app/open-app.ts'

test('identify makes messages without an id possible, and two with the same key one', async () => {
  const { app, handle, store, effects } = openApp()
  app.on(
    'order.placed',
    { name: 'charge', identify: ({ body }) => (body as { order: string }).order },
    ({ body }, { tx }) => write(tx, (body as { order: string }).order),
  )
  await handle({ type: 'order.placed', body: { order: 'o1' } }, { type: 'order.placed', body: { order: 'o2' } })
  await handle(
    { type: 'order.placed', body: { order: 'o1' } },
    { id: 'm9', type: 'order.placed', body: { order: 'o2' } },
  )
  expect(effects()).toEqual({ o1: 1, o2: 1 })
  expect(await recordOf(store, { handler: 'charge', key: 'o1' })).toMatchObject({ state: 'processed' })
})

test('without an id all handlers of a type need identify', async () => {
  const { app, handle, store, effects } = openApp()
  app.on('order.placed', { name: 'charge', identify: byContent }, (_, { tx }) => write(tx, 'charge'))
  app.on('order.placed', 'count', (_, { tx }) => write(tx, 'count'))
  await handle({ type: 'order.placed', body: {} })
  expect(effects()).toEqual({})
  expect(await store.parking.list()).toMatchObject([{ reason: 'MESSAGE_ID_MISSING' }])
})

test('byContent: equal bodies are one message, whatever the order of their keys', async () => {
  const { app, handle, effects } = openApp()
  app.on('order.placed', { name: 'charge', identify: byContent }, ({ body }, { tx }) =>
    write(tx, String((body as { a: number }).a)),
  )
  const order = (body: unknown) => ({ type: 'order.placed', body })
  await handle(order({ a: 1, b: 2 }), order({ a: 3 }))
  await handle(order({ b: 2, a: 1 }))
  expect(effects()).toEqual({ 1: 1, 3: 1 })
})

test("byPosition: the broker's coordinate is the key, and a message without one is kept", async () => {
  const { app, handle, store, effects } = openApp()
  app.on('order.placed', { name: 'charge', identify: byPosition }, ({ position }, { tx }) => write(tx, position ?? ''))
  const at = (position: string | undefined, body: unknown) => ({
    type: 'order.placed',
    position,
    body,
    source: 'orders',
  })
  await handle(at('orders/0/1', 1), at('orders/0/2', 1), at(undefined, 2))
  await handle(at('orders/0/2', 1))
  expect(effects()).toEqual({ 'orders/0/1': 1, 'orders/0/2': 1 })
  const [letter] = await store.parking.list()
  expect(letter).toMatchObject({ reason: 'MESSAGE_ID_MISSING' })
  expect(letter?.errors).toContain('Messages from orders have no position.')
})

test.each([
  [
    'throws',
    () => {
      throw new Error('no such field')
    },
    'The message could not be identified: Error: no such field.',
  ],
  ['returns nothing', () => undefined, 'What identify() of handler charge returned cannot be a key (undefined).'],
  ['returns a promise', async () => 'x', 'What identify() of handler charge returned cannot be a key (object).'],
  ['returns too much', () => 'x'.repeat(300), '300 characters'],
])('an identify that %s: the message is kept, its neighbours are processed', async (_, identify, text) => {
  const { app, handle, store, effects, transport } = openApp()
  app.on('order.placed', { name: 'charge', identify: identify as never }, (_message, { tx }) => write(tx, 'charge'))
  app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  await handle(note('m1'), { id: 'bad', type: 'order.placed', body: {} }, note('m2'))
  expect(effects()).toEqual({ m1: 1, m2: 1 })
  expect(transport.settled()).toHaveLength(3)
  const [letter] = await store.parking.list()
  expect(letter).toMatchObject({ handler: '-', messageId: 'bad', state: 'dead', reason: 'MESSAGE_ID_INVALID' })
  expect(letter?.errors).toContain(text)
})

test("where the body does not fit the handler's schema that is the reason, not what identify makes of it", async () => {
  const { app, handle, store } = openApp()
  const schema = z.object({ order: z.string() })
  app.on('order.placed', { name: 'charge', schema, identify: ({ body }) => body.order.trim() }, () => {})
  await handle({ id: 'bad', type: 'order.placed', body: {} })
  expect(await store.parking.list()).toMatchObject([{ messageId: 'bad', state: 'dead', reason: 'BODY_INVALID' }])
})

test('the same id with other content is a reused key: kept once for each content, and reported', async () => {
  const { app, handle, store, clock, effects, eventsOf } = openApp()
  app.on('note.created', 'tag-note', ({ id, body }, { tx }) => write(tx, `${id} ${body}`))
  await handle(note('m1', { body: 'one' }))
  await clock.advance(5_000)
  const others = [note('m1', { body: 'two' }), note('m1', { body: 'three' })]
  for (const other of [...others, ...others]) await handle(other)
  expect(effects()).toEqual({ 'm1 one': 1 })
  const letters = await store.parking.list()
  expect(letters).toMatchObject([
    { handler: 'tag-note', messageId: 'm1', state: 'dead', reason: 'KEY_REUSED' },
    { handler: 'tag-note', messageId: 'm1', state: 'dead', reason: 'KEY_REUSED' },
  ])
  expect(letters.map(({ message }) => new TextDecoder().decode(message.body))).toEqual(['"two"', '"three"'])
  const [event] = eventsOf('parked')
  expect(event).toMatchObject({ reason: 'KEY_REUSED', state: 'dead' })
  expect((event?.error as Error | undefined)?.message).toMatch(
    /Handler tag-note has already seen the key m1 .* set fingerprint: 'none'/,
  )
  expect(await recordOf(store, { handler: 'tag-note', key: 'm1' })).toMatchObject({ state: 'processed' })
})

test.each([
  ["fingerprint: 'none'", 'none' as const, []],
  ['a function that leaves the time out', ({ body }: { body: unknown }) => (body as { a: number }).a, ['KEY_REUSED']],
])('%s: what may differ is not compared', async (_, fingerprint, reasons) => {
  const { app, handle, store, clock, effects } = openApp()
  app.on('note.created', { name: 'tag-note', fingerprint }, ({ id }, { tx }) => write(tx, id))
  await handle(note('m1', { body: { a: 1, sentAt: 1 } }))
  await clock.advance(5_000)
  await handle(note('m1', { body: { a: 1, sentAt: 2 } }))
  await handle(note('m1', { body: { a: 2, sentAt: 3 } }))
  expect(effects()).toEqual({ m1: 1 })
  expect((await store.parking.list()).map(({ reason }) => reason)).toEqual(reasons)
})
