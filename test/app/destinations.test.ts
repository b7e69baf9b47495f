import { expect, onTestFinished, test } from 'vitest'
import type { OutgoingMessage } from '../../src/driver.ts'
import { type AppOptions, type JustonceEvent, justonce, type Publisher } from '../../src/index.ts'
import { type MemoryStore, memoryTransport } from '../../src/memory.ts'
import { MemoryDatabase, memoryStore } from '../../src/stores/memory/index.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { queueTransport } from '../../src/transports/queue/index.ts'

/** A broker that remembers what it was sent. */
function place(destination: string) {
  const received: OutgoingMessage[] = []
  const publisher: Publisher = {
    destination,
    async publish(messages) {
      received.push(...messages)
      return messages.map(() => ({ kind: 'sent' }))
    },
    async close() {},
  }
  return { publisher, received, ids: () => received.map(({ id }) => id) }
}

/** Several apps on one database, on one clock that stands still. */
function oneDatabase() {
  const clock = fakeClock()
  const database = new MemoryDatabase({ clock })
  const events: JustonceEvent[] = []
  return {
    clock,
    database,
    events,
    open(options: Omit<AppOptions<MemoryStore, Record<string, unknown>>, 'store'>) {
      const store = memoryStore({ database })
      const app = justonce({ store, clock, log: false, ...options })
      app.events.listen((event) => events.push(event))
      onTestFinished(async () => {
        const stopped = app.stop()
        await clock.advance(0)
        await stopped
      })
      const publish = (type: string, id: string, key?: string) =>
        store.transaction((tx) => app.publish(type, {}, { tx, id, ...(key !== undefined && { key }) }))
      return { app, store, publish }
    },
  }
}

test('two apps on one database send only what their own destinations are for', async () => {
  const { clock, open } = oneDatabase()
  const [one, other] = [place('one'), place('other')]
  const apps = [open({ to: one.publisher }), open({ to: other.publisher })]
  for (const { app } of apps) await app.start()
  for (let i = 0; i < 40; i++) await apps[i % 2]?.publish('note.tagged', `m${i}`)
  await clock.advance(5_000)
  expect(one.ids()).toEqual(Array.from({ length: 20 }, (_, i) => `m${2 * i}`))
  expect(other.ids()).toEqual(Array.from({ length: 20 }, (_, i) => `m${2 * i + 1}`))
})

test('routes lead from types to destinations: what says most wins', async () => {
  const { clock, open } = oneDatabase()
  const [events, audit, mails, rest] = [place('e'), place('a'), place('m'), place('r')]
  const { app, publish } = open({
    to: { events: events.publisher, audit: audit.publisher, mails: mails.publisher, rest: rest.publisher },
    routes: { 'note.*': 'events', 'note.mail.*': 'mails', 'note.removed': 'audit', '*': 'rest' },
  })
  await app.start()
  for (const type of ['note.created', 'note.removed', 'note.mail.sent', 'notes', 'user.created'])
    await publish(type, type)
  await clock.advance(5_000)
  expect(events.ids()).toEqual(['note.created'])
  expect(audit.ids()).toEqual(['note.removed'])
  expect(mails.ids()).toEqual(['note.mail.sent'])
  expect(rest.ids()).toEqual(['notes', 'user.created'])
})

test('a type without a route is refused where it is published, with those that there are', async () => {
  const { clock, open } = oneDatabase()
  const from = memoryTransport()
  const { app, publish, store } = open({
    from,
    to: { events: place('events').publisher },
    routes: { 'note.*': 'events', 'user.created': 'events' },
  })
  await expect(publish('order.placed', 'm1')).rejects.toMatchObject({
    code: 'ROUTE_UNKNOWN',
    message: expect.stringContaining('order.placed have no route. Routes: user.created, note.*.'),
  })
  await expect(app.publish('order.placed', {})).rejects.toMatchObject({ code: 'ROUTE_UNKNOWN' })
  app.on('note.created', 'place-order', (_, { publish: publishInside }) => publishInside('order.placed', {}))
  await app.start()
  from.send({ id: 'n1', type: 'note.created', body: {} })
  await from.idle()
  await clock.advance(0)
  const [parked] = await store.parking.list()
  expect(parked).toMatchObject({ handler: 'place-order', key: 'n1' })
  expect(parked?.errors).toContain('Messages of type order.placed have no route')
})

test('what would come back to an app that has no handler for it is refused', async () => {
  const { open } = oneDatabase()
  const transport = memoryTransport({ name: 'notes' })
  const { app, publish } = open({ transport })
  // Who has no handlers at all publishes for others.
  await publish('note.tagged', 'm0')
  app.on('note.created', 'tag-note', () => {})
  await expect(publish('note.tagged', 'm1')).rejects.toMatchObject({
    code: 'ROUTE_UNKNOWN',
    message: expect.stringContaining('would go to notes, which this app reads itself'),
  })
  await publish('note.created', 'm2')
})

test('an app without handlers starts and relays', async () => {
  const { clock, open } = oneDatabase()
  const events = place('events')
  const { app, publish } = open({ to: events.publisher })
  await publish('note.tagged', 'm1')
  await app.start()
  await clock.advance(0)
  expect(events.ids()).toEqual(['m1'])
})

test('what is published in the own transaction of the caller is sent at its commit, not at the next poll', async () => {
  const { clock, open } = oneDatabase()
  const events = place('events')
  const relaying = open({ to: events.publisher, only: 'relay' })
  const publishing = open({ to: events.publisher })
  await relaying.app.start()
  await clock.advance(10)
  await publishing.publish('note.tagged', 'm1')
  await clock.advance(0)
  expect(events.ids()).toEqual(['m1'])
})

test('a process that only relays needs no handlers for what others consume', async () => {
  const { clock, open } = oneDatabase()
  const events = place('events')
  const { app, publish } = open({ from: memoryTransport(), to: events.publisher, only: 'relay' })
  await publish('note.tagged', 'm1')
  await app.start()
  await clock.advance(0)
  expect(events.ids()).toEqual(['m1'])
})

test.each([
  ['consumer', 'it has nothing to consume from'],
  ['relay', 'it has nowhere to relay to'],
] as const)('an app that is only a %s needs what that takes', async (only, why) => {
  const { open } = oneDatabase()
  await expect(open({ only }).app.start()).rejects.toThrow(why)
})

test('a process that only retries needs no transport', async () => {
  const { open } = oneDatabase()
  await open({ only: ['retries', 'maintenance'] }).app.start()
})

test('a process that only consumes leaves sending to one that only relays', async () => {
  const { clock, open } = oneDatabase()
  const events = place('events')
  const from = memoryTransport()
  const { app } = open({ from, to: events.publisher, only: 'consumer' })
  app.on('note.created', 'tag-note', (_, { publish }) => publish('note.tagged', {}, { id: 'o1' }))
  await app.start()
  from.send({ id: 'n1', type: 'note.created', body: {} })
  await from.idle()
  await clock.advance(60_000)
  expect(events.ids()).toEqual([])
  expect(await app.operations.outgoing.waiting()).toMatchObject({ events: { ready: 1 } })
  await open({ to: events.publisher, only: ['relay'] }).app.start()
  await clock.advance(0)
  expect(events.ids()).toEqual(['o1'])
})

test('a message that was refused once keeps its place among those of its key', async () => {
  const { clock, open } = oneDatabase()
  const events = place('events')
  const { publish: send } = events.publisher
  let refusals = 1
  const publisher: Publisher = {
    ...events.publisher,
    async publish(messages) {
      if (messages.some(({ id }) => id === '1') && refusals-- > 0) {
        const held = messages.map(() => ({ kind: 'held' as const }))
        return [{ kind: 'refused', error: new Error('not now') }, ...held.slice(1)]
      }
      return await send(messages)
    },
  }
  const { app, publish } = open({ to: publisher })
  await app.start()
  await publish('note.tagged', '1', 'k')
  await publish('note.tagged', '2', 'k')
  await clock.advance(0)
  await publish('note.tagged', '3', 'k')
  await publish('note.tagged', 'other', 'l')
  await clock.advance(0)
  expect(events.ids()).toEqual(['other'])
  await clock.advance(10_000)
  expect(events.ids()).toEqual(['other', '1', '2', '3'])
})

test('messages for a destination that nobody serves stay there, and that is reported', async () => {
  const { clock, open, events } = oneDatabase()
  const [gone, living] = [place('gone'), place('living')]
  await open({ to: gone.publisher }).publish('note.tagged', 'm1')
  const { app } = open({ to: living.publisher })
  await app.start()
  await clock.advance(300_000)
  const told = events.filter(({ kind }) => kind === 'destinations-unserved')
  expect(told).toEqual([{ kind: 'destinations-unserved', waiting: { gone: 1 } }])
  expect(await app.operations.outgoing.waiting()).toMatchObject({ gone: { ready: 1, hidden: 0 } })
  expect(living.ids()).toEqual([])
})

test('what a slow broker is still being sent is not sent by other processes as well', async () => {
  const { clock, open } = oneDatabase()
  const received: string[] = []
  const slow: Publisher = {
    destination: 'slow',
    async publish(messages) {
      for (const { id } of messages) {
        await clock.sleep(2_000)
        received.push(id)
      }
      return messages.map(() => ({ kind: 'sent' }))
    },
    async close() {},
  }
  const apps = [open({ to: slow }), open({ to: slow }), open({ to: slow })]
  for (const { app } of apps) await app.start()
  const ids = Array.from({ length: 50 }, (_, i) => `m${i}`)
  await apps[0]?.store.transaction(async (tx) => {
    for (const id of ids) await apps[0]?.app.publish('note.tagged', {}, { tx, id, key: 'k' })
  })
  await clock.advance(150_000)
  expect(received).toEqual(ids)
})

test('a process that never hears from its broker again does not keep what it has taken for ever', async () => {
  const { clock, open } = oneDatabase()
  const { promise: heard, resolve: hear } = Promise.withResolvers<void>()
  const [deaf, other] = [place('events'), place('events')]
  const publish: Publisher['publish'] = (messages) => heard.then(() => deaf.publisher.publish(messages))
  const first = open({ to: { ...deaf.publisher, publish } })
  await first.app.start()
  await first.publish('note.tagged', 'm1')
  await clock.advance(0)
  await open({ to: other.publisher }).app.start()
  await clock.advance(60_000)
  expect(other.ids()).toEqual([])
  await clock.advance(600_000)
  expect(other.ids()).toEqual(['m1'])
  hear()
  await clock.advance(0)
})

test('that nobody sends what waits is reported by processes that do not send, even if the destination is theirs', async () => {
  const { clock, open, events } = oneDatabase()
  const { app, publish } = open({ to: place('events').publisher, only: 'retries' })
  await publish('note.tagged', 'm1')
  await app.start()
  await clock.advance(300_000)
  const told = events.filter(({ kind }) => kind === 'destinations-unserved')
  expect(told).toEqual([{ kind: 'destinations-unserved', waiting: { events: 1 } }])
})

test('what app.deliver() publishes to a queue of the store is there', async () => {
  const store = memoryStore()
  const app = justonce({ store, log: false, transport: queueTransport({ store, queue: 'notes' }) })
  app.on('note.created', 'tag-note', (_, { publish }) => publish('note.tagged', {}))
  app.on('note.tagged', 'count', () => {})
  await app.deliver({ id: 'm1', type: 'note.created', body: {} })
  expect(await store.queue.count('notes')).toMatchObject({ ready: 1, hidden: 0 })
})

const somewhere = place('somewhere').publisher
const refusedOptions: [string, Record<string, unknown>, string][] = [
  ['several destinations without routes', { to: { a: somewhere, b: somewhere } }, 'without routes nobody knows'],
  ['a route to nowhere', { to: { a: somewhere }, routes: { x: 'b' } }, 'leads to "b", and to has "a"'],
  [
    'a route with a star in the middle',
    { to: { a: somewhere }, routes: { 'a*b': 'a' } },
    'neither a type nor prefix.*',
  ],
  ['routes that are a list', { to: somewhere, routes: ['x'] }, 'routes must be an object'],
  ['transport and to', { transport: memoryTransport(), to: somewhere }, 'short for both'],
  ['a transport that is an address', { transport: 'amqp://localhost' }, 'such as rabbitmqTransport('],
  ['a transport that only sends', { transport: somewhere }, 'somewhere only takes messages: give it as to'],
  ['a publisher to read from', { from: somewhere }, 'from.destination is string, but must be a driver'],
  ['a name that cannot be one', { to: { 'a\nb': somewhere } }, '1 to 90 printable characters'],
  ['a part that there is not', { to: somewhere, only: 'relays' }, 'only is'],
]

test.each(refusedOptions)('%s is refused', (_, options, message) => {
  expect(() => justonce({ store: memoryStore(), ...options })).toThrow(message)
})
