import { expect, test } from 'vitest'
import { isJustonceError } from '../../src/index.ts'
import { MemoryDatabase } from '../../src/stores/memory/index.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { openApp } from './open-app.ts'

const minute = 60_000
const hour = 60 * minute

test('a message comes at each tick, with the time of the tick, and its handler runs once, with three processes', async () => {
  const ran: [string, string | undefined][] = []
  const first = openApp({ pollMs: 60_000 })
  const { database, clock } = first
  const others = [1, 2].map(() => openApp({ database, clock, transport: first.transport, pollMs: 60_000 }))
  const all = [first, ...others]
  for (const { app } of all) {
    app.on('report.due', 'report', ({ id, sentAt }) => void ran.push([id, sentAt?.toISOString()]))
    app.schedule('hourly', { cron: '30 * * * *', type: 'report.due', body: {} })
  }
  for (const { handle } of all) await handle()
  await clock.advance(3 * hour)
  await first.quiet()
  expect(ran.map(([, at]) => at)).toEqual(
    ['2030-01-01T00:30', '2030-01-01T01:30', '2030-01-01T02:30'].map((at) => `${at}:00.000Z`),
  )
  expect(new Set(ran.map(([id]) => id)).size).toBe(3)
  expect(await first.app.operations.schedules.list()).toEqual([
    {
      name: 'hourly',
      type: 'report.due',
      times: '30 * * * * (UTC)',
      lastTick: new Date('2030-01-01T02:30Z'),
      nextTick: new Date('2030-01-01T03:30Z'),
    },
  ])
})

test('ticks that nobody was there for are reported', async () => {
  const first = openApp({ pollMs: 60_000 })
  const { database, clock } = first
  const plan = (app: typeof first.app) => {
    app.on('report.due', 'report', () => {})
    app.schedule('hourly', { everyMs: hour, type: 'report.due', body: {} })
  }
  plan(first.app)
  await first.handle()
  const stopped = first.app.stop()
  await clock.advance(0)
  await stopped
  await clock.advance(5.5 * hour)
  const second = openApp({ database, clock, pollMs: 60_000 })
  plan(second.app)
  await second.handle()
  await clock.advance(100)
  expect(second.eventsOf('ticks-missed')).toEqual([
    { kind: 'ticks-missed', schedule: 'hourly', missed: 'last', made: 1 },
  ])
})

test('a tick after the machine has slept is made in time', async () => {
  const awake = fakeClock()
  let sleptMs = 0
  // Neither timers nor the monotonic clock count while a machine sleeps; the database runs on.
  const clock = { ...awake, now: () => new Date(awake.now().getTime() + sleptMs) }
  const database = new MemoryDatabase({ clock })
  const { app, handle, quiet, eventsOf } = openApp({ database, clock, pollMs: 60_000 })
  const ran: (string | undefined)[] = []
  app.on('report.due', 'report', ({ sentAt }) => void ran.push(sentAt?.toISOString()))
  app.schedule('hourly', { cron: '30 * * * *', type: 'report.due', body: {}, missed: 'skip' })
  await handle()
  await clock.advance(5 * minute)
  sleptMs = 24.5 * minute
  await clock.advance(5 * minute)
  await quiet()
  expect(ran).toEqual(['2030-01-01T00:30:00.000Z'])
  expect(eventsOf('ticks-missed')).toEqual([])
})

test.for([
  [{}, 'SCHEDULE_INVALID'],
  [{ cron: '* * * * *', everyMs: 5_000 }, 'SCHEDULE_INVALID'],
  [{ everyMs: 5_000, timeZone: 'UTC' }, 'SCHEDULE_INVALID'],
  [{ everyMs: 10 }, 'OPTION_INVALID'],
  [{ cron: 'daily' }, 'SCHEDULE_INVALID'],
  [{ cron: '@daily', timeZone: 'Mars' }, 'SCHEDULE_INVALID'],
  [{ cron: '@daily', missed: 'some' }, 'OPTION_INVALID'],
  [{ cron: '@daily', when: 1 }, 'OPTION_UNKNOWN'],
] as const)('%j is refused', ([times, code]) => {
  const { app } = openApp()
  const add = () => app.schedule('s', { type: 'report.due', body: {}, ...times } as never)
  expect(add).toThrow(expect.toSatisfy((error) => isJustonceError(error, code)))
})

test('a schedule whose messages have no route, or do not fit, keeps the app from starting', async () => {
  const { app } = openApp()
  app.on('note.created', 'x', () => {})
  app.schedule('s', { cron: '@daily', type: 'report.due', body: {} })
  await expect(app.start()).rejects.toSatisfy((error) => isJustonceError(error, 'ROUTE_UNKNOWN'))
  expect(() => app.schedule('s', { cron: '@daily', type: 'note.created', body: {} })).toThrow('already a schedule')
})

test('a schedule whose message cannot be made keeps no other one from being made', async () => {
  const ran: string[] = []
  const clock = fakeClock()
  const { app, handle, quiet, eventsOf } = openApp({
    clock,
    pollMs: 60_000,
    codec: {
      'bad.due': {
        encode: () => {
          if (clock.now() > new Date('2030-01-01T00:30Z')) throw new Error('no room')
          return Buffer.from('{}')
        },
        decode: () => ({}),
      },
    },
  })
  for (const type of ['bad.due', 'good.due']) {
    app.on(type, type, ({ type: each }) => void ran.push(each))
    app.schedule(type, { everyMs: hour, type, body: {} })
  }
  await handle()
  await clock.advance(2 * hour + 1_000)
  await quiet()
  expect(ran).toEqual(['good.due', 'good.due'])
  expect(eventsOf('loop-failed').length).toBeGreaterThan(0)
})
