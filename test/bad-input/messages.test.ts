import { expect, test } from 'vitest'
import * as z from 'zod'
import { unpackMessage } from '../../src/encoding/packed-message.ts'
import { catalog, type ErrorCode } from '../../src/errors/index.ts'
import { messages } from '../../src/index.ts'
import { countParked } from '../../src/operations/index.ts'
import type { MessageToSend } from '../../src/transports/memory/index.ts'
import { note, openApp, write } from '../app/open-app.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const schemas = messages({ 'order.placed': z.object({ amount: z.number() }) })

interface BadMessage {
  readonly what: string
  readonly message: MessageToSend
  readonly code: ErrorCode
  /** What the error says has been seen. */
  readonly seen: string
}

const badMessages: readonly BadMessage[] = [
  {
    what: 'without an id',
    message: { type: 'note.created', body: { a: 1 }, source: 'notes' },
    code: 'MESSAGE_ID_MISSING',
    seen: 'A message of type note.created from notes has no id.',
  },
  { what: 'with an empty id', message: note(''), code: 'MESSAGE_ID_INVALID', seen: '0 characters: ""' },
  {
    what: 'with an id of 256 characters',
    message: note('x'.repeat(256)),
    code: 'MESSAGE_ID_INVALID',
    seen: `256 characters: "${'x'.repeat(60)}"`,
  },
  { what: 'with NUL in its id', message: note('a\0b'), code: 'MESSAGE_ID_INVALID', seen: '"a\\u0000b"' },
  {
    what: 'with half a surrogate pair in its id',
    message: note('a\ud800'),
    code: 'MESSAGE_ID_INVALID',
    seen: '"a\\ud800"',
  },
  {
    what: 'with an id that is not text',
    message: note(7 as unknown as string),
    code: 'MESSAGE_ID_INVALID',
    seen: '(number)',
  },
  {
    what: 'without a type',
    message: { id: 'bad', body: {}, source: 'notes' },
    code: 'MESSAGE_TYPE_MISSING',
    seen: 'A message from notes has no type.',
  },
  {
    what: 'of a type without a handler',
    message: note('bad', { type: 'no.such\0type' }),
    code: 'TYPE_UNKNOWN',
    seen: '"no.such\\u0000type" (message bad)',
  },
  {
    what: 'whose body is cut off',
    message: note('bad', { body: bytes('{"open":') }),
    code: 'BODY_NOT_JSON',
    seen: '(8 bytes, beginning "{\\"open\\":")',
  },
  {
    what: 'whose body is empty',
    message: note('bad', { body: new Uint8Array() }),
    code: 'BODY_NOT_JSON',
    seen: '(0 bytes',
  },
  {
    what: 'whose body is no text at all',
    message: note('bad', { body: Uint8Array.of(0xff, 0xfe, 0, 0x80) }),
    code: 'BODY_NOT_JSON',
    seen: '(4 bytes',
  },
  {
    what: 'whose body does not fit the schema of its type',
    message: { id: 'bad', type: 'order.placed', body: { amount: 'ten' } },
    code: 'BODY_INVALID',
    seen: 'the schema of type order.placed: amount: Invalid input: expected number, received string.',
  },
  {
    what: 'whose body is too large',
    message: note('bad', { body: 'x'.repeat(200) }),
    code: 'BODY_TOO_LARGE',
    seen: 'The body has 202 bytes, the limit is 100.',
  },
  {
    what: 'with __proto__ in its body',
    message: note('bad', { body: bytes('{"user":{"__proto__":{"admin":true}}}') }),
    code: 'BODY_UNSAFE',
    seen: '__proto__',
  },
  {
    what: 'with __proto__ in its body, in disguise',
    message: note('bad', { body: bytes('{"\\u005f\\u005fproto__":{"admin":true}}') }),
    code: 'BODY_UNSAFE',
    seen: '__proto__',
  },
  {
    what: 'with too many headers',
    message: note('bad', { headers: Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`x-${i}`, 'value'])) }),
    code: 'HEADERS_INVALID',
    seen: 'The headers have 350 bytes together, the limit is 100.',
  },
  {
    what: 'with headers that are not text',
    message: note('worse', { headers: { ok: 'yes', table: { a: [1n, null] } } as unknown as Record<string, string> }),
    code: 'HEADERS_INVALID',
    seen: 'The header "table" is object, not text.',
  },
]

test.each(badMessages)('a message $what is kept as it came, with its reason', async ({ message, code, seen }) => {
  const { app, handle, store, transport, effects, eventsOf } = openApp({
    messages: schemas as never,
    maxBodyBytes: 100,
    maxHeaderBytes: 100,
  })
  for (const type of ['note.created', 'order.placed']) app.on(type, type, ({ id }, { tx }) => write(tx, id))
  await handle(note('before'), message, note('after'))

  expect(eventsOf('batch').map((batch) => batch.messages)).toEqual([3])
  expect(effects()).toEqual({ before: 1, after: 1 })
  expect(transport.settled()).toHaveLength(3)
  expect(transport.unsettled()).toEqual([])

  const [event] = eventsOf('parked')
  expect(event).toMatchObject({ state: 'dead', reason: code, attempts: 0, error: { code } })
  const text = (event?.error as Error | undefined)?.message
  expect(text).toContain(seen)
  expect(text).toContain(catalog[code].fix)

  const letters = await store.parking.list()
  expect(letters).toMatchObject([{ handler: '-', state: 'dead', reason: code, attempts: 0, key: event?.key }])
  expect(JSON.parse(letters[0]?.errors ?? '')[0].message).toContain(seen.slice(0, 40))

  const [sent] = transport.settled().filter(({ id }) => id !== 'before' && id !== 'after')
  const kept = unpackMessage(letters[0]?.message ?? expect.unreachable())
  expect(kept.body).toEqual(sent?.body)
  expect(kept.id).toEqual(sent?.id)
  expect(kept.type).toEqual(sent?.type)
  expect(kept.source).toEqual(sent?.source)
  expect(Object.keys(kept.headers)).toEqual(Object.keys(sent?.headers ?? {}))

  await handle(message)
  expect(await countParked(store)).toBe(1)
  expect(transport.settled()).toHaveLength(4)
})

test('what poisons objects has poisoned none', async () => {
  const { app, handle } = openApp()
  app.on('note.created', 'merge', ({ body }) => void Object.assign({}, body))
  await handle(note('bad', { body: bytes('{"__proto__":{"admin":true}}') }))
  expect(({} as { admin?: boolean }).admin).toBeUndefined()
})

test('a body nested so deeply that it cannot be looked at is kept, and the next message is processed', async () => {
  const { app, handle, store, effects } = openApp()
  app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  const deep = bytes(`${'['.repeat(200_000)}${']'.repeat(200_000)}`)
  await handle(
    note('deep', { body: deep }),
    note('deep too', { body: bytes(`{"a":"\\u0041","b":${'['.repeat(200_000)}${']'.repeat(200_000)}}`) }),
    note('m1'),
  )
  expect(effects()).toEqual({ m1: 1 })
  expect(await store.parking.list()).toMatchObject([{ reason: 'BODY_TOO_DEEP' }, { reason: 'BODY_TOO_DEEP' }])
})

test('two bad messages that share an id are both kept: the id alone does not make one a copy of the other', async () => {
  const { app, handle, store } = openApp()
  app.on('note.created', 'tag-note', () => {})
  const one = note('m1', { body: bytes('{') })
  const bad = [
    one,
    { ...one, body: bytes('[') },
    { ...one, source: 'elsewhere' },
    note('m1', { type: 'no.such.type' }),
    note('m1', { type: 'nor.this.one' }),
  ]
  await handle(...bad)
  await handle(...bad)
  expect(await countParked(store)).toBe(bad.length)
})

test('a bad copy does not hold up the attempts of the good message', async () => {
  const { app, handle, store, clock, effects } = openApp()
  let isBroken = true
  app.on('note.created', 'first', () => {})
  app.on('note.created', { name: 'second', retry: { backoff: () => 1_000 } }, ({ id }, { tx }) => {
    if (isBroken) throw new Error('not yet')
    write(tx, id)
  })
  await handle(note('m1'))
  // The first handler has the other content as a dead letter now, under the same message id.
  await handle(note('m1', { body: bytes('{') }), note('m1', { body: { other: 'content' } }))
  expect(await countParked(store, { state: 'dead' })).toBe(3)
  isBroken = false
  await clock.advance(5_000)
  expect(effects()).toEqual({ m1: 1 })
  expect(await countParked(store, { state: 'waiting' })).toBe(0)
})

test('many bad messages in one batch: each is kept under its own reason', async () => {
  const { app, handle, store, effects } = openApp({
    maxBodyBytes: 100,
    maxHeaderBytes: 100,
    messages: schemas as never,
  })
  for (const type of ['note.created', 'order.placed']) app.on(type, type, ({ id }, { tx }) => write(tx, id))
  await handle(...badMessages.map(({ message }) => message), note('m1'))
  expect(effects()).toEqual({ m1: 1 })
  const reasons = (await store.parking.list()).map(({ reason }) => reason)
  expect(reasons.toSorted()).toEqual(badMessages.map(({ code }) => code).toSorted())
})
