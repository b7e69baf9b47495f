import { deserialize, serialize } from 'node:v8'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { byContent, type Codec, messages } from '../../src/index.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { prove } from '../../src/testing/index.ts'
import { later, note, openApp, write } from './open-app.ts'

/** Holds what JSON cannot, and is no text. */
const binary: Codec = {
  contentType: 'application/x-v8',
  decode: (bytes) => deserialize(bytes),
  encode: (value) => serialize(value),
}
const bytesAsTheyAre: Codec = { decode: (bytes) => bytes, encode: (value) => value as Uint8Array }
const binaryNote = (id: string, body: unknown) => note(id, { body: serialize(body) })

test('handlers get what the codec decodes, and what they publish is encoded by it', async () => {
  const { app, handle, quiet } = openApp({ codec: binary })
  const seen: unknown[] = []
  app.on('note.created', 'tag-note', async ({ body }, { publish }) => {
    seen.push(body)
    await publish('note.tagged', { tags: new Set(['a']) })
  })
  app.on('note.tagged', 'count', ({ body, headers }) => void seen.push(body, headers))
  await handle(binaryNote('m1', { at: new Date(0) }))
  await quiet()
  expect(seen).toEqual([{ at: new Date(0) }, { tags: new Set(['a']) }, { 'content-type': 'application/x-v8' }])
})

test('a codec may use one buffer for all that it encodes', async () => {
  const scratch = new Uint8Array(8)
  const reusing: Codec = {
    decode: (bytes) => Buffer.from(bytes).toString(),
    encode: (value) => scratch.subarray(0, Buffer.from(scratch.buffer).write(value as string)),
  }
  const { app, handle, quiet } = openApp({ codec: { 'note.tagged': reusing } })
  const seen: unknown[] = []
  app.on('note.created', 'tag-note', async (_, { publish }) => {
    for (const tag of ['first', 'next']) await publish('note.tagged', tag)
  })
  app.on('note.tagged', 'count', ({ body }) => void seen.push(body))
  await handle(note('m1'))
  await quiet()
  expect(seen).toEqual(['first', 'next'])
})

test('a codec by type leaves the others to JSON, and what says most wins', async () => {
  const { app, handle } = openApp({ codec: { 'audit.*': bytesAsTheyAre, 'audit.note': binary } })
  const seen: unknown[] = []
  for (const type of ['note.created', 'audit.raw', 'audit.note'])
    app.on(type, `count-${type}`, ({ body }) => void seen.push(body))
  await handle(
    note('m1'),
    note('m2', { type: 'audit.raw', body: Uint8Array.of(255) }),
    note('m3', { type: 'audit.note', body: serialize(new Date(0)) }),
  )
  expect(seen).toEqual([{ id: 'm1' }, Uint8Array.of(255), new Date(0)])
})

test('a codec sees what the sender says about the bytes', async () => {
  const either: Codec = {
    ...binary,
    decode: (bytes, { headers }) =>
      headers['content-type'] === 'application/json' ? JSON.parse(Buffer.from(bytes).toString()) : deserialize(bytes),
  }
  const { app, handle } = openApp({ codec: either })
  const seen: unknown[] = []
  app.on('note.created', 'tag-note', ({ body }) => void seen.push(body))
  await handle(note('m1', { body: { plain: 1 }, headers: { 'content-type': 'application/json' } }), binaryNote('m2', 2))
  expect(seen).toEqual([{ plain: 1 }, 2])
})

describe('a codec that has to ask somebody', () => {
  test('is waited for', async () => {
    const asking: Codec = { ...binary, decode: async (bytes) => deserialize(bytes) }
    const { app, handle } = openApp({ codec: asking })
    const seen: unknown[] = []
    app.on('note.created', 'tag-note', ({ id, body }) => void seen.push([id, body]))
    await handle(binaryNote('m1', 1), binaryNote('m2', 2))
    expect(seen).toEqual([
      ['m1', 1],
      ['m2', 2],
    ])
  })

  test.each([
    ['one takes longer', 1, 6_000],
    ['those of a pile together take longer', 20, 400],
  ])('is waited for before a retry, also where %s than a retry is reserved for', async (_, messages, tookMs) => {
    const clock = fakeClock()
    const slow: Codec = { ...binary, decode: (bytes) => clock.sleep(tookMs).then(() => deserialize(bytes)) }
    const one = openApp({ codec: slow, clock })
    const two = openApp({ codec: slow, clock, database: one.database })
    let isBroken = true
    for (const { app } of [one, two]) {
      const options = {
        name: 'tag-note',
        ordered: { by: 'key' },
        breaker: false,
        retry: { backoff: () => 100 },
      } as const
      app.on('note.created', options, () => {
        if (isBroken) throw new Error('no')
      })
      await app.start()
    }
    one.transport.send(Array.from({ length: messages }, (_, n) => ({ ...binaryNote(`m${n}`, n), key: 'k' })))
    await clock.advance(tookMs * messages)
    await one.transport.idle()
    isBroken = false
    await clock.advance(tookMs * messages + 60_000)
    expect([...one.eventsOf('processed'), ...two.eventsOf('processed')]).toHaveLength(messages)
  })

  test('and never answers makes its message a dead letter, and holds up no other', async () => {
    const silent: Codec = { ...binary, decode: () => new Promise(() => {}) }
    const { app, transport, clock } = openApp({ codec: { 'note.created': silent } })
    const seen: string[] = []
    app.on('note.created', 'tag-note', () => {})
    app.on('note.read', 'count', ({ id }) => void seen.push(id))
    await app.start()
    transport.send([binaryNote('m1', 1), note('m2', { type: 'note.read' })])
    await clock.advance(30_000)
    await transport.idle()
    expect(seen).toEqual(['m2'])
    const [letter] = await app.operations.letters.list()
    expect(letter).toMatchObject({ messageId: 'm1', reason: 'BODY_NOT_DECODED' })
  })
})

test('what cannot be decoded is a dead letter with the bytes that came, and can be redriven with another body', async () => {
  const { app, handle, quiet, clock } = openApp({ codec: binary })
  const seen: unknown[] = []
  app.on('note.created', 'tag-note', ({ body }) => void seen.push(body))
  await handle(note('m1', { body: Uint8Array.of(255, 1, 2) }))
  const [letter] = await app.operations.letters.list()
  expect(letter).toMatchObject({ reason: 'BODY_NOT_DECODED', body: Uint8Array.of(255, 1, 2) })
  const { handler = '', key = '' } = letter ?? {}
  await app.operations.letters.redrive({ handler, key }, { by: 'anna', body: { at: new Date(0) } })
  await clock.advance(5_000)
  await quiet()
  expect(seen).toEqual([{ at: new Date(0) }])
})

describe('a codec that comes or goes with a deploy', () => {
  const dates: Codec = {
    decode: (bytes) => ({ parsed: JSON.parse(Buffer.from(bytes).toString()) }),
    encode: (value) => Buffer.from(JSON.stringify(value)),
  }

  test('and breaks what waits for a retry is reported as what it does to it', async () => {
    const broken: Codec = { ...dates, decode: () => JSON.parse('{') }
    const first = openApp({ codec: dates })
    const second = openApp({ codec: broken, database: first.database, clock: first.clock })
    for (const { app } of [first, second]) {
      const options = { name: 'tag-note', retry: { attempts: 3, backoff: () => 1_000 } }
      app.on('note.created', options, () => Promise.reject(new Error('no')))
    }
    await first.handle(note('m1'))
    await first.app.stop()
    await second.app.start()
    await second.clock.advance(10_000)
    expect(second.eventsOf('parked')).toMatchObject([
      { key: 'm1', reason: 'BODY_NOT_DECODED', state: 'waiting', attempts: 2 },
      { key: 'm1', reason: 'BODY_NOT_DECODED', state: 'dead', attempts: 3 },
    ])
  })

  test.each([
    ['comes', {}, { codec: dates }],
    ['goes', { codec: dates }, {}],
  ])('and %s makes no other message of a copy, and none of another one a copy', async (_, before, after) => {
    const first = openApp(before)
    const second = openApp({ ...after, database: first.database, clock: first.clock })
    for (const { app } of [first, second]) app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
    await first.handle(note('m1', { body: { n: 1 } }))
    await second.handle(note('m1', { body: { n: 1 } }))
    expect(second.eventsOf('duplicate')).toMatchObject([{ key: 'm1' }])
    expect(second.eventsOf('parked')).toEqual([])
    await second.handle(note('m1', { body: { n: 2 } }))
    expect(second.eventsOf('parked')).toMatchObject([{ reason: 'KEY_REUSED' }])
    expect(first.effects()).toEqual({ m1: 1 })
  })
})

test('bodies are compared by their bytes', async () => {
  const { app, handle, eventsOf } = openApp({ codec: { 'note.created': binary, 'note.raw': binary } })
  app.on('note.created', 'tag-note', () => {})
  const keys: string[] = []
  app.on('note.raw', { name: 'by-content', identify: byContent }, ({ id }) => void keys.push(id))
  await handle(binaryNote('m1', { a: 1 }), binaryNote('m1', { a: 1 }), binaryNote('m1', { a: 2 }))
  expect(eventsOf('parked').map(({ reason }) => reason)).toEqual(['KEY_REUSED'])
  const raw = (id: string, body: unknown) => note(id, { type: 'note.raw', body: serialize(body) })
  await handle(raw('r1', 1), raw('r2', 1), raw('r3', 2))
  expect(keys).toEqual(['r1', 'r3'])
})

test('a handler that changes the bytes it was given meets them unchanged when it runs again', async () => {
  const { app, handle, clock, quiet } = openApp({ codec: bytesAsTheyAre })
  const seen: number[] = []
  app.on('note.created', { name: 'tag-note', retry: { backoff: () => 1_000 } }, ({ body }) => {
    const bytes = body as Uint8Array
    seen.push(bytes[0] ?? -1)
    bytes[0] = 0
    if (seen.length === 1) throw new Error('again')
  })
  await handle(note('m1', { body: Uint8Array.of(7) }))
  await clock.advance(5_000)
  await quiet()
  expect(seen).toEqual([7, 7])
})

test('what is published is checked as its receiver decodes it', async () => {
  const schemas = messages({ 'note.tagged': z.object({ at: z.date() }) })
  const { app } = openApp({ codec: binary, messages: schemas as never })
  app.on('note.tagged', 'count', () => {})
  await app.publish('note.tagged', { at: new Date(0) })
  await expect(app.publish('note.tagged', { at: 'noon' })).rejects.toMatchObject({ code: 'PUBLISH_INVALID' })
})

test.each([
  ['throws', () => serialize(() => {}), 'could not encode a body'],
  ['answers with a promise', async () => new Uint8Array(), 'returned a promise, not bytes'],
  ['answers with text', () => '{}', 'returned string, not bytes'],
])('a codec that %s when it has to encode fails who publishes', async (_, encode, text) => {
  const { app, handle, eventsOf } = openApp({ codec: { 'note.tagged': { ...binary, encode: encode as never } } })
  app.on('note.created', { name: 'tag-note', ...later }, (_, { publish }) => publish('note.tagged', {}))
  app.on('note.tagged', 'count', () => {})
  await handle(note('m1'))
  const [{ error } = { error: undefined }] = eventsOf('parked')
  expect(error).toMatchObject({ code: 'BODY_NOT_ENCODED', message: expect.stringContaining(text) })
})

test('deliver() encodes a value as publish does', async () => {
  const { app } = openApp({ codec: binary })
  const seen: unknown[] = []
  app.on('note.created', 'tag-note', ({ body }) => void seen.push(body))
  await app.deliver({ id: 'm1', type: 'note.created', body: new Date(0) })
  expect(seen).toEqual([new Date(0)])
})

test('prove() encodes its messages with the codec of the app', async () => {
  const proof = await prove({
    app: { codec: binary },
    setup: (db) => db.exec('CREATE TABLE notes (id TEXT PRIMARY KEY, at TEXT)'),
    register: (app) =>
      app.on('note.created', 'tag-note', ({ id, body }, { tx }) => {
        tx.prepare('INSERT INTO notes VALUES (?, ?)').run(id, (body as { at: Date }).at.toISOString())
      }),
    messages: [{ id: 'n1', type: 'note.created', body: { at: new Date(0) } }],
  })
  expect(proof.failures, proof.report).toEqual([])
})
