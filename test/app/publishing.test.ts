import { expect, test } from 'vitest'
import type { OutgoingMessage, PublishResult } from '../../src/driver.ts'
import { justonce, type Transport } from '../../src/index.ts'
import { memoryStore, memoryTransport } from '../../src/memory.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { queueTransport } from '../../src/transports/queue/index.ts'
import { later, note, openApp, write } from './open-app.ts'

test('what a handler publishes leaves after its commit, at once, with everything it was given', async () => {
  const { app, handle, quiet, store } = openApp()
  const seen: unknown[] = []
  app.on('note.created', 'tag-note', async (_, { publish }) => {
    const id = await publish('note.tagged', { tag: 'x' }, { key: 'k', headers: { trace: 't1' } })
    seen.push(id, await store.queue.count('>memory'))
  })
  app.on(
    'note.tagged',
    'count',
    ({ id, body, key, headers, sentAt }) => void seen.push({ id, body, key, headers, sentAt }),
  )
  await handle(note('m1'))
  await quiet()
  const [id, before, received] = seen
  expect(before).toEqual({ ready: 0, hidden: 0, oldestMs: undefined })
  expect(received).toEqual({
    id,
    body: { tag: 'x' },
    key: 'k',
    headers: { trace: 't1' },
    sentAt: new Date('2030-01-01T00:00:00Z'),
  })
})

test('what a failed handler has published never leaves', async () => {
  const { app, handle, transport } = openApp()
  app.on('note.created', { name: 'tag-note', ...later }, async ({ id }, { publish }) => {
    await publish('note.tagged', { id })
    if (id === 'm2') throw new Error('no')
  })
  app.on('note.tagged', 'count', () => {})
  await handle(note('m1'), note('m2'))
  expect(await app.operations.outgoing.waiting()).toEqual({})
  expect(transport.settled().filter(({ type }) => type === 'note.tagged')).toHaveLength(1)
})

test('app.publish with tx leaves with that transaction or not at all', async () => {
  const { app, store, clock, transport } = openApp()
  app.on('note.tagged', 'count', () => {})
  await app.start()
  const undone = store.transaction(async (tx) => {
    await app.publish('note.tagged', {}, { tx, id: 'undone' })
    throw new Error('no')
  })
  await expect(undone).rejects.toThrow('no')
  await store.transaction((tx) => app.publish('note.tagged', {}, { tx, id: 'done' }))
  await clock.advance(2_000)
  expect(transport.settled().map(({ id }) => id)).toEqual(['done'])
})

test('app.publish without tx resolves when the broker has it, and rejects when it refuses', async () => {
  const transport = memoryTransport()
  const refusal = new Error('too large')
  let answer: PublishResult = { kind: 'sent' }
  const sent: OutgoingMessage[] = []
  const wrapped = {
    ...transport,
    async publish(messages: readonly OutgoingMessage[]) {
      sent.push(...messages)
      return messages.map(() => answer)
    },
  }
  const app = justonce({ store: memoryStore(), transport: wrapped })
  expect(await app.publish('note.tagged', {}, { id: 'x1' })).toBe('x1')
  answer = { kind: 'refused', error: refusal }
  await expect(app.publish('note.tagged', {}, { id: 'x2' })).rejects.toMatchObject({
    code: 'PUBLISH_REFUSED',
    cause: refusal,
    message: expect.stringContaining('memory refused message x2 of type note.tagged.'),
  })
  expect(sent.map(({ id }) => id)).toEqual(['x1', 'x2'])
})

test('app.publish with nowhere to go to, or nothing to keep it in, says what is missing', async () => {
  const store = memoryStore()
  const app = justonce({ store })
  await expect(app.publish('note.tagged', {})).rejects.toMatchObject({ code: 'ROUTE_UNKNOWN' })
  const { queue: _, ...withoutQueue } = store
  const other = justonce({ store: withoutQueue, to: memoryTransport() })
  const inside = store.transaction((tx) => other.publish('note.tagged', {}, { tx }))
  await expect(inside).rejects.toThrow(/memory has no queue to keep published messages in/)
})

test.each([
  ['a broker', 'broker'],
  ['the queue of the store', 'queue:jobs'],
])('what is published goes to its destination, whatever its cause came from: %s', async (_, destination) => {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  const broker = memoryTransport({ name: 'broker' })
  const queue = queueTransport({ store, queue: 'jobs' })
  const sources: string[] = []
  const to = [broker, queue].find((each) => each.destination === destination) as Transport
  const app = justonce({ store, clock, from: { broker, queue }, to })
  app.on('note.created', 'tag-note', (_message, { publish }) => publish('note.tagged', {}))
  app.on('note.tagged', 'count', ({ source }) => void sources.push(source))
  await app.start()
  broker.send(note('m1'))
  await queue.publish([
    { id: 'm2', type: 'note.created', body: new TextEncoder().encode('{}'), headers: {}, sentAt: new Date(0) },
  ])
  for (let i = 0; i < 50 && sources.length < 2; i++) await clock.advance(500)
  await app.stop()
  expect(sources).toEqual([destination, destination])
  expect(await app.operations.outgoing.waiting()).toEqual({})
})

test('hooks that fail are reported, and harm nobody', async () => {
  const { app, handle, effects, eventsOf } = openApp()
  const error = new Error('cache is down')
  app.on('note.created', 'tag-note', ({ id }, { tx, afterCommit }) => {
    write(tx, id)
    afterCommit(async () => {
      throw error
    })
    afterCommit(() => {
      throw error
    })
  })
  await handle(note('m1'), note('m2'))
  expect(effects()).toEqual({ m1: 1, m2: 1 })
  expect(eventsOf('after-commit-failed')).toHaveLength(4)
})

test('the story of a message has what its handler has published and a broker has refused for good', async () => {
  const { app, clock, transport, handle } = openApp()
  transport.publish = async (messages) =>
    messages.map(() => ({ kind: 'refused', error: new Error('no such exchange') }))
  app.on(
    'note.created',
    'tag-note',
    async ({ id }, { publish }) => void (await publish('note.tagged', {}, { id: `tagged ${id}` })),
  )
  app.on('note.tagged', 'count', () => {})
  await handle(note('m1'))
  for (let attempt = 0; attempt < 12; attempt++) await clock.advance(300_000)
  const story = await app.operations.messages.story('m1')
  const causedBy = { handler: 'tag-note', key: 'm1' }
  expect(story?.outgoing).toMatchObject([
    { id: 'tagged m1', state: 'refused', destination: 'memory', attempts: 10, causedBy },
  ])
  expect(story?.outgoing[0]?.error).toContain('no such exchange')
  expect(story?.outgoing[0]?.letter).toMatchObject({ handler: '>memory' })
  expect((await app.operations.messages.story('tagged m1'))?.causedBy).toMatchObject(causedBy)
})

test('what the broker has refused for good is a dead letter, and is sent when somebody redrives it', async () => {
  const { app, store, clock, transport, events } = openApp()
  const publish = transport.publish.bind(transport)
  const error = new Error('the queue is full')
  transport.publish = async (messages) => messages.map(() => ({ kind: 'refused', error }))
  app.on('note.tagged', 'count', () => {})
  await app.start()
  await store.transaction((tx) => app.publish('note.tagged', { tag: 'x' }, { tx, id: 'o1', key: 'k' }))
  await clock.advance(0)
  expect(await app.operations.outgoing.waiting()).toMatchObject({ memory: { ready: 0, hidden: 1 } })
  for (let attempt = 0; attempt < 12; attempt++) await clock.advance(300_000)
  const dead = { destination: 'memory', messageId: 'o1', state: 'dead', attempts: 10, error }
  expect(events).toContainEqual({ kind: 'outgoing-refused', ...dead })
  expect(await app.operations.outgoing.waiting()).toEqual({})
  const [letter] = await app.operations.letters.list()
  expect(letter).toMatchObject({
    handler: '>memory',
    messageId: 'o1',
    type: 'note.tagged',
    reason: 'OUTGOING_REFUSED',
    attempts: 10,
    body: { tag: 'x' },
  })
  expect(letter?.errors.at(-1)?.message).toContain('the queue is full')
  expect(await app.operations.letters.preview('all')).toMatchObject({ letters: 1, wouldRun: { '>memory': 1 } })
  transport.publish = publish
  const { id } = await app.operations.letters.redrive('all', { by: 'anna' })
  await clock.advance(5_000)
  expect(transport.settled().map((each) => each.id)).toEqual(['o1'])
  expect(await app.operations.letters.list()).toEqual([])
  expect(await app.operations.letters.redriveStatus(id)).toMatchObject({ state: 'finished', succeeded: 1 })
})
