import { expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { version } from '../../src/encoding/version.ts'
import { operations } from '../../src/index.ts'
import { MemoryDatabase, memoryStore } from '../../src/stores/memory/index.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { later, note, openApp, write } from '../app/open-app.ts'

test('the version is that of the package', () => {
  expect(version).toBe(packageJson.version)
})

test('a process is listed while it runs, with what it is and has, and no longer when it has stopped', async () => {
  const { app, store, transport, clock } = openApp({ name: 'notes', only: ['consumer', 'retries'] })
  app.on('note.created', { name: 'tag-note', formerly: ['old-name'] }, () => {})
  await app.start()
  await clock.advance(0)
  const { processes } = operations(store, { clock })
  const [listed, ...others] = await processes()
  expect(others).toEqual([])
  expect(listed).toMatchObject({
    app: 'notes',
    pid: process.pid,
    version,
    duties: ['consumer', 'retries'],
    sources: [transport.name],
    handlers: [{ name: 'tag-note', type: 'note.created', formerly: ['old-name'], breaker: 'closed' }],
    clockAheadMs: 0,
    startedAt: clock.now(),
  })
  await app.stop()
  expect(await processes()).toEqual([])
})

test('a process that dies is listed for half a minute at most', async () => {
  const { app, store, clock } = openApp()
  app.on('note.created', 'tag-note', () => {})
  await app.start()
  await clock.advance(12_000)
  const alone = fakeClock()
  const copy = memoryStore({ database: new MemoryDatabase({ clock: alone }) })
  const [report] = await store.facts.list('process', 10)
  await copy.facts.change(undefined, [
    { ...report, name: report?.name ?? '', value: report?.value ?? '', from: undefined, forMs: 30_000 },
  ])
  await alone.advance(29_000)
  expect(await operations(copy, { clock: alone }).processes()).toHaveLength(1)
  await alone.advance(1_000)
  expect(await operations(copy, { clock: alone }).processes()).toEqual([])
})

test('what a handler is doing is visible while it does it, and since when', async () => {
  const { app, transport, clock } = openApp()
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
  app.on('note.created', 'tag-note', async () => await mayEnd)
  transport.send([note('m1')])
  await app.start()
  const begun = clock.now()
  await clock.advance(7_000)
  // The handler has the only connection of the memory store, so no heartbeat is written while it runs.
  const { processes, handlers } = app.operations
  expect((await processes())[0]).toMatchObject({
    runningCount: 1,
    running: [{ handler: 'tag-note', messageId: 'm1', key: 'm1', messages: 1, attempt: 1, since: begun }],
  })
  expect((await handlers.list())[0]?.processes).toMatchObject([{ running: 1 }])
  end()
  await clock.advance(5_000)
  expect((await processes())[0]).toMatchObject({ running: [], runningCount: 0 })
})

test('every minute is counted and kept, also when the process has ended', async () => {
  const { app, store, clock, handle } = openApp()
  app.on('note.created', { name: 'tag-note', ...later }, ({ id }, { tx }) => {
    if (id === 'bad') throw new Error('no')
    write(tx, id)
  })
  const begunAt = clock.now()
  await handle(note('m1'), note('m2'), note('bad'))
  await handle(note('m1'))
  await clock.advance(61_000)
  await handle(note('m3'))
  await app.stop()
  const { overview, handlers } = operations(store, { clock })
  const { history, processes, parked } = await overview({ minutes: 3 })
  expect(processes).toBe(0)
  expect(parked).toEqual({ waiting: 1, dead: 0, waitingSince: begunAt })
  const counted = history.map((minute) => [minute.processed, minute.knownHere + minute.knownInStore, minute.failed])
  expect(counted).toEqual([
    [0, 0, 0],
    [2, 1, 1],
    [1, 0, 0],
  ])
  expect(
    history.every(({ at }, index) => index === 0 || at.getTime() - (history[index - 1]?.at.getTime() ?? 0) === 60_000),
  ).toBe(true)
  expect(await handlers.list()).toMatchObject([
    {
      name: 'tag-note',
      processes: [],
      counts: { processed: 3, failed: 1, knownHere: 1 },
      failureRate: 0.25,
      waiting: 1,
    },
  ])
  await clock.advance(25 * 3_600_000)
  expect((await overview({ minutes: 26 * 60 })).history.every(({ processed }) => processed === 0)).toBe(true)
})

test('the history can be asked for one process, and the current minute is part of it', async () => {
  const clock = fakeClock()
  const database = new MemoryDatabase({ clock })
  const apps = [openApp({ clock, database }), openApp({ clock, database })] as const
  for (const { app } of apps) app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  await apps[0].handle(note('m1'), note('m2'))
  await apps[1].handle(note('m3'))
  await clock.advance(6_000)
  const { overview, processes } = operations(apps[0].store, { clock })
  const all = await overview({ minutes: 1 })
  expect(all).toMatchObject({ processes: 2, history: [{ processed: 3 }] })
  expect(all.now.processed).toBeGreaterThan(0)
  const ids = (await processes()).map(({ id }) => id)
  const each = await Promise.all(ids.map((process) => overview({ minutes: 1, process })))
  expect(each.map(({ history }) => history[0]?.processed).toSorted()).toEqual([1, 2])
})

test('an idle process costs a read and a write every five seconds', async () => {
  const { app, store, clock } = openApp()
  let [reads, writes] = [0, 0]
  const { list, change } = store.facts
  Object.assign(store.facts, {
    list: (...given: Parameters<typeof list>) => {
      if (given[0] === 'pause') reads++
      return list(...given)
    },
    change: (...given: Parameters<typeof change>) => {
      if (given[1].some(({ name }) => /^(process|minute|duplicates) /.test(name))) writes++
      return change(...given)
    },
  })
  app.on('note.created', 'tag-note', () => {})
  await app.start()
  await clock.advance(0)
  const before = [reads, writes] as const
  await clock.advance(60_000)
  expect([reads - before[0], writes - before[1]]).toEqual([12, 12])
})

test('heartbeat: false leaves nothing behind and asks nothing', async () => {
  const { app, store, clock, handle } = openApp({ heartbeat: false })
  app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  await handle(note('m1'))
  await clock.advance(120_000)
  for (const kind of ['process', 'minute', 'duplicates']) expect(await store.facts.list(kind, 10)).toEqual([])
})

test('facts that have expired are removed', async () => {
  const { app, store, clock, handle, database } = openApp({ heartbeat: { keepMs: 60_000 } })
  app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  await handle(note('m1'))
  await clock.advance(3_600_000)
  const names = JSON.stringify([...database.facts.committedEntries()])
  expect(names).not.toContain('minute ')
  expect(await store.facts.list('process', 10)).toHaveLength(1)
})

test('everything is counted again after the store was away for longer than a report lives', async () => {
  const { app, store, clock, handle } = openApp()
  app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  await handle(note('m1'))
  const { change } = store.facts
  Object.assign(store.facts, { change: async () => Promise.reject(new Error('away')) })
  await clock.advance(180_000)
  expect(await operations(store, { clock }).processes()).toEqual([])
  Object.assign(store.facts, { change })
  await clock.advance(60_000)
  const { processes, history } = await operations(store, { clock }).overview({ minutes: 6 })
  expect(processes).toBe(1)
  expect(history.reduce((sum, { processed }) => sum + processed, 0)).toBe(1)
})
