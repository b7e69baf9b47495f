import { expect, test } from 'vitest'
import { JustonceError, justonce } from '../../src/index.ts'
import { memoryStore, memoryTransport } from '../../src/memory.ts'
import { note, openApp, write } from './open-app.ts'

test('stopping finishes the batch that runs, gives back the rest, and waits for hooks', async () => {
  const { app, transport, clock, effects } = openApp({ batch: { max: 2, budgetMs: 60_000 } })
  const running = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const hook = Promise.withResolvers<void>()
  app.on('note.created', 'tag-note', async ({ id }, { tx, afterCommit }) => {
    write(tx, id)
    afterCommit(() => hook.promise)
    begun.resolve()
    await running.promise
  })
  transport.send(['m1', 'm2', 'm3', 'm4', 'm5'].map((id) => note(id)))
  await app.start()
  await begun.promise
  let isStopped = false
  const stopped = app.stop().then(() => {
    isStopped = true
  })
  await clock.advance(0)
  expect(isStopped).toBe(false)
  running.resolve()
  await clock.advance(0)
  expect(effects()).toEqual({ m1: 1, m2: 1 })
  expect(transport.pending().map(({ id }) => id)).toEqual(['m3', 'm4', 'm5'])
  expect(isStopped).toBe(false)
  hook.resolve()
  await stopped
  expect(transport.settled()).toHaveLength(2)
  expect(clock.waiting()).toBe(0)
})

test('an idle app stops at once, and nothing of it goes on', async () => {
  const { app, transport, clock, effects } = openApp()
  app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  await app.start()
  await clock.advance(0)
  await app.stop()
  expect(clock.waiting()).toBe(0)
  transport.send(note('m1'))
  await clock.advance(60_000)
  expect(effects()).toEqual({})
  expect(transport.pending()).toHaveLength(1)
})

test('stopping twice is stopping once', async () => {
  const { app, transport, clock } = openApp()
  app.on('note.created', 'tag-note', () => {})
  await app.start()
  transport.send(note('m1'))
  await clock.advance(0)
  await Promise.all([app.stop(), app.stop()])
  await app.stop()
  expect(transport.settled()).toHaveLength(1)
})

test('what a rival holds goes back too', async () => {
  const { app, transport, clock, store, eventsOf } = openApp()
  const { claim } = store.inbox
  store.inbox.claim = async (tx, requests) => {
    if (requests.some(({ key }) => key === 'held')) {
      throw new JustonceError('STORE_BUSY', { message: 'A rival has it.' })
    }
    return claim(tx, requests)
  }
  app.on('note.created', 'tag-note', () => {})
  await app.start()
  transport.send([note('m1'), note('held'), note('m2')])
  await clock.advance(0)
  expect(transport.settled().map(({ id }) => id)).toEqual(['m1', 'm2'])
  expect(eventsOf('claim-held')).toMatchObject([{ handler: 'tag-note', key: 'held' }])
  await clock.advance(1_000)
  expect(eventsOf('claim-held')).toHaveLength(2)
  await app.stop()
  expect(transport.pending().map(({ id }) => id)).toEqual(['held'])
  expect(clock.waiting()).toBe(0)
})

test('an app cannot be started twice, and not again after it was stopped', async () => {
  const { app } = openApp()
  app.on('note.created', 'tag-note', () => {})
  const first = app.start()
  await expect(app.start()).rejects.toMatchObject({ code: 'APP_NOT_STARTABLE' })
  await first
  expect(() => app.on('note.created', 'count', () => {})).toThrow(/Cannot register a handler for note.created now/)
  await app.stop()
  await expect(app.start()).rejects.toThrow(/it is stopped/)
})

test('stopped while it starts, it never runs', async () => {
  const transport = memoryTransport()
  const store = memoryStore()
  const installing = Promise.withResolvers<void>()
  const app = justonce({
    store: { ...store, schema: { ...store.schema, install: () => installing.promise } },
    transport,
  })
  let runs = 0
  app.on('note.created', 'tag-note', () => void runs++)
  transport.send(note('m1'))
  const started = app.start()
  await app.stop()
  installing.resolve()
  await started
  await new Promise((resolve) => setImmediate(resolve))
  expect(runs).toBe(0)
  expect(transport.pending()).toHaveLength(1)
})

test('when the tables cannot be made it has not started, and may be started again', async () => {
  const transport = memoryTransport()
  const store = memoryStore()
  let attempts = 0
  const install = async () => {
    if (attempts++ === 0) throw new Error('no permission')
  }
  const app = justonce({ store: { ...store, schema: { ...store.schema, install } }, transport })
  app.on('note.created', 'tag-note', () => {})
  await expect(app.start()).rejects.toThrow('no permission')
  await app.start()
  transport.send(note('m1'))
  await transport.idle()
  await app.stop()
  expect(transport.settled()).toHaveLength(1)
})

test("with schema: 'check' nothing is installed, and what does not fit is refused", async () => {
  const store = memoryStore()
  const error = new Error('the tables are too old')
  const schema = { ...store.schema, check: () => Promise.reject(error), install: () => expect.unreachable() }
  const app = justonce({ store: { ...store, schema }, transport: memoryTransport(), schema: 'check' })
  app.on('note.created', 'tag-note', () => {})
  await expect(app.start()).rejects.toBe(error)
})

test('stopping gives up hooks that do not end, and names their handlers', async () => {
  const { app, transport, clock, effects, eventsOf } = openApp()
  app.on('note.created', 'tag-note', ({ id }, { tx, afterCommit }) => {
    write(tx, id)
    if (id === 'hangs') afterCommit(() => new Promise(() => {}))
  })
  await app.start()
  transport.send([note('hangs'), note('m1')])
  await clock.advance(0)
  expect(effects()).toEqual({ hangs: 1, m1: 1 })
  const stopped = app.stop()
  await clock.advance(5_000)
  await stopped
  expect(eventsOf('after-commit-failed')).toMatchObject([{ handler: 'tag-note', error: { code: 'HOOK_TIMEOUT' } }])
  expect(clock.waiting()).toBe(0)
})

test('a hook has as much time as its handler; then it is reported, and the next one runs', async () => {
  const { app, handle, clock, eventsOf } = openApp()
  const ran: string[] = []
  app.on('note.created', { name: 'tag-note', timeoutMs: 1_000 }, (_, { afterCommit }) => {
    afterCommit(() => new Promise(() => {}))
    afterCommit(() => void ran.push('second'))
  })
  await handle(note('m1'))
  await clock.advance(999)
  expect(ran).toEqual([])
  await clock.advance(1)
  expect(ran).toEqual(['second'])
  expect(eventsOf('after-commit-failed')).toMatchObject([{ handler: 'tag-note', error: { code: 'HOOK_TIMEOUT' } }])
})

test('a handler that does not end holds up the end only until the deadline, and what is left is named', async () => {
  const { app, transport, clock, eventsOf } = openApp()
  const begun = Promise.withResolvers<void>()
  const running = Promise.withResolvers<void>()
  app.on('note.created', 'tag-note', async () => {
    begun.resolve()
    await running.promise
  })
  await app.start()
  // The first round of maintenance ends before the message takes the only connection.
  await clock.advance(0)
  transport.send(note('m1'))
  await begun.promise
  let isStopped = false
  const stopped = app.stop({ withinMs: 1_000 }).then(() => {
    isStopped = true
  })
  await clock.advance(799)
  expect(isStopped).toBe(false)
  await clock.advance(201)
  await stopped
  const unfinished = [`messages of ${transport.name}`]
  expect(eventsOf('stop-unfinished')).toEqual([{ kind: 'stop-unfinished', withinMs: 1_000, unfinished }])
  running.resolve()
})

test('a transport that does not close holds up the end only until the deadline, which is 25 seconds by default', async () => {
  const transport = memoryTransport()
  const { app, clock, eventsOf } = openApp({
    transport,
    wrapped: { ...transport, name: 'frozen', close: () => new Promise<void>(() => {}) },
  })
  app.on('note.created', 'tag-note', () => {})
  await app.start()
  const stopped = app.stop()
  await clock.advance(25_000)
  await stopped
  expect(eventsOf('stop-unfinished')).toMatchObject([{ withinMs: 25_000, unfinished: ['connection of frozen'] }])
})

test('what was opened to publish is closed, also when the app was never started', async () => {
  const transport = memoryTransport()
  let closed = 0
  const close = async () => void closed++
  const app = justonce({ store: memoryStore(), transport: { ...transport, close } })
  await app.publish('note.created', {})
  await app.stop()
  await app.stop()
  expect(closed).toBe(1)
})

test('a deadline that is no number is refused', async () => {
  const { app } = openApp()
  await expect(app.stop({ withinMs: Number.NaN })).rejects.toMatchObject({ code: 'OPTION_INVALID' })
  await expect(app.start({ withinMs: -1 })).rejects.toMatchObject({ code: 'OPTION_INVALID' })
})
