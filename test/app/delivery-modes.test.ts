import { expect, test } from 'vitest'
import { countParked } from '../../src/operations/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { later, note, openApp, write } from './open-app.ts'

test('at most once: it runs after the acknowledgement, and its record is there by then', async () => {
  const { app, handle, store, transport, effects, eventsOf } = openApp()
  const seen: unknown[] = []
  app.on('note.created', { name: 'ping', delivery: 'at-most-once' }, async ({ id }, { tx, publish, afterCommit }) => {
    seen.push(transport.settled().map(({ id: settled }) => settled))
    write(tx, id)
    await publish('note.pinged', {}, { id: `pinged ${id}` })
    afterCommit(() => void seen.push('hook'))
  })
  app.on('note.pinged', 'count', ({ id }, { tx }) => write(tx, id))
  await handle(note('m1'))
  await handle(note('m1'))
  expect(seen).toEqual([['m1'], 'hook'])
  expect(effects()).toEqual({ m1: 1, 'pinged m1': 1 })
  expect(await recordOf(store, { handler: 'ping', key: 'm1' })).toMatchObject({ state: 'processed' })
  expect(eventsOf('processed').map(({ handler }) => handler)).toEqual(['ping', 'count'])
})

test('at most once: a failure loses it, says so, and leaves nothing; neither a copy nor time brings it back', async () => {
  const { app, handle, store, clock, effects, eventsOf } = openApp()
  let runs = 0
  const error = new Error('no')
  app.on('note.created', { name: 'ping', delivery: 'at-most-once' }, ({ id }, { tx }) => {
    runs++
    write(tx, id)
    throw error
  })
  await handle(note('m1'))
  expect(eventsOf('at-most-once-failed')).toEqual([{ kind: 'at-most-once-failed', handler: 'ping', key: 'm1', error }])
  await clock.advance(60_000)
  await handle(note('m1'))
  expect(runs).toBe(1)
  expect(effects()).toEqual({})
  expect(await countParked(store)).toBe(0)
})

test('at most once: it runs before the app has stopped', async () => {
  const { app, transport, effects } = openApp()
  app.on('note.created', { name: 'ping', delivery: 'at-most-once' }, async ({ id }, { tx }) => {
    await new Promise((resolve) => setImmediate(resolve))
    write(tx, id)
  })
  await app.start()
  transport.send(note('m1'))
  await transport.idle()
  await app.stop()
  expect(effects()).toEqual({ m1: 1 })
})

test('at most once: one that takes too long is cut off, and the next transaction is not its own', async () => {
  const { app, transport, clock, effects, eventsOf } = openApp()
  app.on('note.created', { name: 'ping', delivery: 'at-most-once', timeoutMs: 100 }, async ({ id }, { tx }) => {
    if (id === 'slow') await clock.sleep(1_000)
    write(tx, id)
  })
  await app.start()
  transport.send([note('slow'), note('m1')])
  await clock.advance(5_000)
  expect(effects()).toEqual({ m1: 1 })
  expect(eventsOf('at-most-once-failed')).toMatchObject([{ key: 'slow', error: { code: 'HANDLER_TIMEOUT' } }])
  // Its write came too late, and was refused.
  expect(eventsOf('late-call')).toMatchObject([{ handler: 'ping' }])
})

test('at least once: tx and publish, but no record: every copy runs', async () => {
  const { app, handle, store, effects, eventsOf } = openApp()
  app.on('note.created', { name: 'refresh', delivery: 'at-least-once' }, async ({ id }, { tx }) => write(tx, id))
  await handle(note('m1'))
  await handle(note('m1'))
  expect(effects()).toEqual({ m1: 2 })
  expect(await recordOf(store, { handler: 'refresh', key: 'm1' })).toBeUndefined()
  expect(eventsOf('duplicate')).toEqual([])
})

test('at least once: a failure is parked and tried again like any other', async () => {
  const { app, handle, store, clock, effects } = openApp()
  let isBroken = true
  app.on(
    'note.created',
    { name: 'refresh', delivery: 'at-least-once', retry: { backoff: () => 1_000 } },
    ({ id }, { tx }) => {
      write(tx, id)
      if (isBroken) throw new Error('not yet')
    },
  )
  await handle(note('m1'))
  await handle(note('m1'))
  expect(await countParked(store)).toBe(1)
  isBroken = false
  await clock.advance(5_000)
  expect(effects()).toEqual({ m1: 1 })
  expect(await countParked(store)).toBe(0)
})

test('the three live together on one message', async () => {
  const { app, handle, effects } = openApp()
  app.on('note.created', 'exactly', ({ id }, { tx }) => write(tx, `exactly ${id}`))
  app.on('note.created', { name: 'least', delivery: 'at-least-once' }, ({ id }, { tx }) => write(tx, `least ${id}`))
  app.on('note.created', { name: 'most', delivery: 'at-most-once' }, ({ id }, { tx }) => write(tx, `most ${id}`))
  await handle(note('m1'))
  await handle(note('m1'))
  expect(effects()).toEqual({ 'exactly m1': 1, 'least m1': 2, 'most m1': 1 })
})

test('a renamed handler does not run again for what it did under its old name, parked or done', async () => {
  const before = openApp()
  before.app.on('note.created', { name: 'label-note', ...later }, ({ id }, { tx }) => {
    write(tx, id)
    if (id === 'broken') throw new Error('broken')
  })
  await before.handle(note('m1'), note('broken'))
  await before.app.stop()
  const after = openApp({ database: before.database, clock: before.clock })
  after.app.on('note.created', { name: 'tag-note', formerly: ['label-note'] }, ({ id }, { tx }) => write(tx, id))
  await after.handle(note('m1'), note('broken'), note('m2'))
  expect(after.effects()).toEqual({ m1: 1, m2: 1 })
  expect(await after.store.parking.list()).toMatchObject([{ handler: 'label-note', key: 'broken' }])
})
