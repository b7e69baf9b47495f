import * as v from 'valibot'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { byContent, messages, type StandardSchema } from '../../src/index.ts'
import { countParked } from '../../src/operations/index.ts'
import { later, note, openApp, write } from '../app/open-app.ts'

/** The same rules in two libraries: an amount, and a date that is text on the wire. */
const libraries: readonly (readonly [string, StandardSchema])[] = [
  ['zod', z.object({ amount: z.number().min(1), at: z.string().transform((text) => new Date(text)) })],
  [
    'valibot',
    v.object({
      amount: v.pipe(v.number(), v.minValue(1)),
      at: v.pipe(
        v.string(),
        v.transform((text) => new Date(text)),
      ),
    }),
  ],
  [
    'zod, asynchronously',
    z.object({
      amount: z.number().refine(async (amount) => amount >= 1),
      at: z.string().transform(async (text) => new Date(text)),
    }),
  ],
  [
    'valibot, asynchronously',
    v.objectAsync({
      amount: v.pipeAsync(
        v.number(),
        v.checkAsync(async (amount) => amount >= 1, 'too small'),
      ),
      at: v.pipeAsync(
        v.string(),
        v.transformAsync(async (text) => new Date(text)),
      ),
    }),
  ],
]
const good = { amount: 5, at: '2030-01-01T00:00:00Z' }
const order = (id: string, body: unknown) => ({ id, type: 'order.placed', body })

test.each(libraries)(
  '%s: the body of a type is checked, and its handlers get what the schema made of it',
  async (_, schema) => {
    const { app, handle, store } = openApp({ messages: messages({ 'order.placed': schema }) as never })
    const seen: unknown[] = []
    app.on('order.placed', 'charge', ({ body }) => void seen.push(body))
    await handle(order('m1', good), order('m2', { ...good, amount: 0 }), order('m3', { amount: 5 }))
    expect(seen).toEqual([{ amount: 5, at: new Date('2030-01-01T00:00:00Z') }])
    expect(await store.parking.list()).toMatchObject([
      {
        handler: '-',
        messageId: 'm2',
        state: 'dead',
        reason: 'BODY_INVALID',
        errors: expect.stringContaining('amount: '),
      },
      { handler: '-', messageId: 'm3', state: 'dead', reason: 'BODY_INVALID', errors: expect.stringContaining('at: ') },
    ])
  },
)

test.each(libraries)(
  '%s: a handler may have a schema of its own, and its failure leaves the others done',
  async (_, schema) => {
    const { app, handle, store, effects } = openApp()
    const seen: unknown[] = []
    app.on('order.placed', 'first', ({ id }, { tx }) => write(tx, `first ${id}`))
    app.on('order.placed', { name: 'charge', schema }, ({ body }) => void seen.push(body))
    app.on('order.placed', { name: 'independent', independent: true }, ({ id, body }, { tx }) => {
      write(tx, `independent ${id}`)
      expect(body).not.toHaveProperty('at', expect.any(Date))
    })
    app.on('order.placed', 'last', ({ id }, { tx }) => write(tx, `last ${id}`))
    await handle(order('m1', good), order('m2', { ...good, amount: 0 }))
    expect(seen).toEqual([{ amount: 5, at: new Date('2030-01-01T00:00:00Z') }])
    expect(effects()).toEqual({ 'first m1': 1, 'independent m1': 1, 'last m1': 1, 'first m2': 1, 'independent m2': 1 })
    // No further attempt can repair it, and what follows it waits.
    expect(await store.parking.list()).toMatchObject([
      { handler: 'charge', key: 'm2', state: 'dead', reason: 'BODY_INVALID', attempts: 1 },
      { handler: 'last', key: 'm2', state: 'waiting', reason: 'WAITS_FOR_EARLIER_HANDLER' },
    ])
    await handle(order('m2', { ...good, amount: 0 }))
    expect(await countParked(store)).toBe(2)
  },
)

test("a handler's schema gets what the schema of the type made", async () => {
  const { app, handle } = openApp({
    messages: messages({ 'order.placed': z.object({ at: z.string().transform((text) => new Date(text)) }) }) as never,
  })
  const seen: unknown[] = []
  const schema = z.object({ at: z.date().transform((at) => at.getUTCFullYear()) })
  app.on('order.placed', { name: 'charge', schema }, ({ body }) => void seen.push(body))
  await handle(order('m1', good))
  expect(seen).toEqual([{ at: 2030 }])
})

test('what a schema puts in does not make a second copy look like another message', async () => {
  let made = 0
  const schema = z.object({ amount: z.number(), made: z.number().default(() => ++made) })
  const { app, handle, store, clock, effects, eventsOf } = openApp({
    messages: messages({ 'order.placed': schema }) as never,
  })
  app.on('order.placed', 'charge', ({ id }, { tx }) => write(tx, id))
  await handle(order('m1', { amount: 5 }))
  await clock.advance(5_000)
  await handle(order('m1', { amount: 5 }))
  expect(effects()).toEqual({ m1: 1 })
  expect(eventsOf('duplicate')).toHaveLength(1)
  expect(await countParked(store)).toBe(0)
})

test('nor two messages of one that is known by its content', async () => {
  let made = 0
  const schema = z.object({ amount: z.number(), made: z.number().default(() => ++made) })
  const { app, handle, clock, effects } = openApp({ messages: messages({ 'order.placed': schema }) as never })
  app.on('order.placed', { name: 'charge', identify: byContent }, ({ body }, { tx }) =>
    write(tx, String((body as { amount: number }).amount)),
  )
  await handle({ type: 'order.placed', body: { amount: 5 } })
  await clock.advance(5_000)
  await handle({ type: 'order.placed', body: { amount: 5 } }, { type: 'order.placed', body: { amount: 6 } })
  expect(effects()).toEqual({ 5: 1, 6: 1 })
})

test('a schema may make what JSON cannot hold', async () => {
  const schema = z.object({ amount: z.string().transform((text) => BigInt(text)) })
  const { app, handle, store } = openApp({ messages: messages({ 'order.placed': schema }) as never })
  const seen: unknown[] = []
  app.on('order.placed', 'charge', ({ body }) => void seen.push(body))
  await handle(order('m1', { amount: '9007199254740993' }))
  expect(seen).toEqual([{ amount: 9007199254740993n }])
  expect(await countParked(store)).toBe(0)
})

function throwingSchema(kind: 'at once' | 'later'): StandardSchema {
  const fail = () => {
    throw new Error('the lookup is down')
  }
  return { '~standard': { version: 1, vendor: 'test', validate: kind === 'at once' ? fail : async () => fail() } }
}

test.each(['at once', 'later'] as const)(
  'a schema that throws %s instead of answering has its own code',
  async (kind) => {
    const { app, handle, store, effects } = openApp({
      messages: messages({ 'order.placed': throwingSchema(kind) }) as never,
    })
    app.on('order.placed', 'charge', () => expect.unreachable())
    app.on('note.created', { name: 'tag-note', schema: throwingSchema(kind), ...later }, () => expect.unreachable())
    app.on('note.created', { name: 'count', independent: true }, ({ id }, { tx }) => write(tx, id))
    await handle(order('m1', good), note('m2'))
    expect(effects()).toEqual({ m2: 1 })
    expect(await store.parking.list()).toMatchObject([
      { handler: '-', messageId: 'm1', state: 'dead', reason: 'BODY_CHECK_FAILED' },
      // For one handler it is a failure like any other: the lookup may be back at the next attempt.
      { handler: 'tag-note', key: 'm2', state: 'waiting', reason: 'BODY_CHECK_FAILED', attempts: 1 },
    ])
    expect((await store.parking.list())[0]?.errors).toContain('the lookup is down')
  },
)

test('an answer that is a thenable of its own kind is waited for', async () => {
  const schema = {
    '~standard': {
      version: 1,
      vendor: 'test',
      // biome-ignore lint/suspicious/noThenProperty: what the test is about
      validate: (value: unknown) => ({ then: (resolve: (answer: unknown) => void) => resolve({ value }) }),
    },
  } as unknown as StandardSchema
  const { app, handle } = openApp({ messages: messages({ 'order.placed': schema }) as never })
  const seen: unknown[] = []
  app.on('order.placed', 'charge', ({ body }) => void seen.push(body))
  await handle(order('m1', good))
  expect(seen).toEqual([good])
})
