import { expect, test } from 'vitest'
import { timeOfUuidV7 } from '../../src/ids/index.ts'
import { isJustonceError } from '../../src/index.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { note, openApp } from './open-app.ts'

const hour = 3_600_000

test('a delayed message arrives when its time has come, not at the next poll', async () => {
  const arrived: number[] = []
  const { app, clock, handle, quiet } = openApp({ pollMs: 60_000 })
  app.on('note.created', 'remind-later', (_, { publish }) => publish('note.reminded', {}, { delayMs: 1_500 }))
  app.on('note.reminded', 'remind', () => void arrived.push(clock.now().getTime()))
  await handle(note('m1'))
  const begin = clock.now().getTime()
  await clock.advance(1_495)
  expect(arrived).toEqual([])
  await clock.advance(10)
  await quiet()
  expect(arrived.map((at) => at - begin)).toEqual([1_500])
})

test('the age of a delayed message counts from when it is due: neither its expiry nor the time in its id passes before', async () => {
  const seen: unknown[] = []
  const { app, clock, handle, quiet } = openApp({ pollMs: 60_000 })
  app.on('note.created', 'remind-later', async (_, { publish }) => {
    await publish('note.reminded', {}, { delayMs: hour })
    await publish('note.reminded', {}, { at: new Date(clock.now().getTime() + hour) })
  })
  app.on('note.reminded', { name: 'remind', expires: { afterMs: 60_000 } }, ({ id, sentAt }) => {
    seen.push([sentAt, timeOfUuidV7(id)])
  })
  await handle(note('m1'))
  const due = new Date(clock.now().getTime() + hour)
  await clock.advance(hour)
  await quiet()
  expect(seen).toEqual([
    [due, due],
    [due, due],
  ])
})

test.for([new Date(-1), new Date(0), new Date('1995-01-01')])(
  'what was due at %s leaves now, and is as old as that',
  async (at) => {
    const { app, clock, handle, quiet } = openApp()
    const seen: unknown[] = []
    app.on('note.reminded', { name: 'remind', expires: { afterMs: 60_000 } }, ({ id, sentAt }) => {
      seen.push([sentAt, timeOfUuidV7(id)])
    })
    await handle()
    await app.publish('note.reminded', {}, { at })
    const now = clock.now()
    await clock.advance(1_000)
    await quiet()
    expect(seen).toEqual([[now, now]])
  },
)

test('it waits in no transaction of a handler that fails, and leaves nothing behind when it is cancelled', async () => {
  const { app, clock, handle, quiet, transport } = openApp()
  let arrived = 0
  app.on('note.created', 'remind-later', (_, { publish }) => publish('note.reminded', {}, { id: 'r1', delayMs: hour }))
  app.on('note.reminded', 'remind', () => void arrived++)
  await handle(note('m1'))
  expect(await app.operations.outgoing.delayed({ id: 'r1' })).toMatchObject([
    { id: 'r1', type: 'note.reminded', destination: transport.destination, body: {} },
  ])
  expect(await app.cancel('r1')).toBe(true)
  await clock.advance(2 * hour)
  await quiet()
  expect(arrived).toBe(0)
})

test('an app cancels nothing of another app on the database that uses the same id', async () => {
  const first = openApp({ to: { mails: memoryTransport() } })
  await first.app.publish('note.reminded', {}, { id: 'r1', delayMs: hour })
  const second = openApp({ database: first.database, clock: first.clock, to: { letters: memoryTransport() } })
  expect(await second.app.cancel('r1')).toBe(false)
  expect(await first.app.cancel('r1')).toBe(true)
})

test('another app on the database moves what the app that published it cannot, after a minute', async () => {
  const mails = memoryTransport()
  const first = openApp({ to: { mails } })
  await first.app.publish('note.reminded', {}, { delayMs: 1_000 })
  await first.app.stop()
  const { app, clock, handle, store } = openApp({ database: first.database, clock: first.clock })
  app.on('other', 'other', () => {})
  await handle()
  await clock.advance(120_000)
  expect(await store.parking.list({ kind: 'any' })).toEqual([])
  expect(await app.operations.outgoing.waiting()).toMatchObject({ mails: { ready: 1 } })
})

test.for([
  [{ delayMs: -1 }],
  [{ delayMs: Number.NaN }],
  [{ delayMs: '5' }],
  [{ delayMs: 1e15 }],
  [{ at: new Date('never') }],
  [{ at: 5 }],
  [{ at: new Date(), delayMs: 5 }],
])('%j is refused as a delay', async ([options]) => {
  const { app } = openApp()
  app.on('note.created', 'x', () => {})
  const published = app.publish('note.created', {}, options as never)
  await expect(published).rejects.toSatisfy((error) => isJustonceError(error, 'OPTION_INVALID'))
})
