import { expect, test } from 'vitest'
import { note, openApp, write } from '../../test/app/open-app.ts'
import { ana, letter, once, withLetters } from '../../test/app/open-letters.ts'
import type { NewParkedMessage } from '../contracts/index.ts'
import { packMessage, unpackMessage } from '../encoding/packed-message.ts'
import { JustonceError } from '../errors/index.ts'
import { databaseNow } from '../facts/index.ts'
import { MemoryDatabase, memoryStore } from '../stores/memory/index.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { parkedMessage, recordOf } from '../testing/sample-records.ts'
import { countParked, operations } from './index.ts'

test('what is redriven runs and is done; its record, its events and its end say so', async () => {
  const { letters, repair, rounds, effects, store, dead, eventsOf, app, clock } = await withLetters(['m1', 'm2', 'm3'])
  repair()
  const startedAt = clock.now()
  const { id, selected } = await letters.redrive([letter('m1'), letter('m3'), letter('m1')], {
    by: 'ana',
    why: 'fixed',
  })
  expect(selected).toBe(2)
  expect(await letters.redriveStatus(id)).toEqual({
    id,
    by: 'ana',
    why: 'fixed',
    canary: 0,
    perSecond: undefined,
    stopAfterFailures: 10,
    state: 'running',
    selected: 2,
    startedAt,
    endedAt: undefined,
    reached: undefined,
    unreleased: 2,
    untried: 0,
    failed: 0,
    succeeded: 0,
  })
  await rounds()
  expect(effects()).toEqual({ m1: 1, m3: 1 })
  expect(await dead()).toEqual(['m2'])
  expect(await recordOf(store, letter('m1'))).toMatchObject({ state: 'processed' })
  expect(eventsOf('redrive-ended')).toEqual([{ kind: 'redrive-ended', id, state: 'finished' }])
  expect(await letters.redrives()).toMatchObject([{ id, state: 'finished', selected: 2 }])
  expect(await app.operations.audit()).toMatchObject([
    {
      action: 'redrive',
      by: 'ana',
      why: 'fixed',
      subject: { id, selected: 2, letters: [letter('m1'), letter('m3')] },
    },
  ])
})

test('it begins at once, and so do the attempts: nobody waits for the next poll', async () => {
  const { letters, repair, effects, clock, eventsOf } = await withLetters(['m1', 'm2'])
  repair()
  await letters.redrive('all', { ...ana, canary: 1 })
  await clock.advance(200)
  expect(effects()).toEqual({ m1: 1, m2: 1 })
  expect(eventsOf('redrive-ended')).toMatchObject([{ state: 'finished' }])
})

test('when it has ended its status still says how far it came', async () => {
  const { letters, rounds } = await withLetters(['m1', 'm2'])
  const { id } = await letters.redrive('all', { ...ana, stopAfterFailures: 1 })
  await rounds()
  const status = await letters.redriveStatus(id)
  expect(status).toMatchObject({ state: 'stopped', unreleased: 0, untried: 0, failed: 2, succeeded: 0 })
})

test('what dies later is not in it', async () => {
  const { letters, rounds, repair, handle, dead, runs } = await withLetters(['m1', 'm2', 'm3', 'late'])
  await letters.discard(letter('late'), ana)
  repair()
  const { selected } = await letters.redrive({ type: 'note.created' }, { ...ana, canary: 1 })
  expect(selected).toBe(3)
  await handle({ id: 'new', type: 'unknown', body: {}, headers: {} })
  await rounds(4)
  expect(runs).toEqual(['m1', 'm2', 'm3'])
  expect(await dead()).toHaveLength(1)
})

test('a driver that learns only at its commit that another was first has not failed', async () => {
  let refused = 0
  const clock = fakeClock()
  const store = memoryStore({ database: new MemoryDatabase({ clock }) })
  const { letters, repair, rounds, runs, eventsOf } = await withLetters(['m1', 'm2'], {
    clock,
    store: {
      ...store,
      transaction: (work, options) =>
        store.transaction(async (tx) => {
          const value = await work(tx)
          if (refused-- > 0) throw new JustonceError('CLAIM_LOST', { message: 'Another was first.' })
          return value
        }, options),
    },
  })
  repair()
  await letters.redrive('all', ana)
  refused = 1
  await rounds()
  expect(refused).toBeLessThanOrEqual(0)
  expect(runs).toEqual(['m1', 'm2'])
  expect(eventsOf('loop-failed')).toEqual([])
  expect(eventsOf('redrive-ended')).toMatchObject([{ state: 'finished' }])
})

test('what was applied in part is not redriven among others, only alone or by its reason', async () => {
  const { letters, store } = await withLetters(['m1'])
  const row = parkedMessage('m2', { state: 'dead', reason: 'PARTLY_APPLIED' })
  await store.transaction((tx) => store.parking.park(tx, [row]))
  for (const selection of ['all', { handler: 'tag-note' }, [letter('m1'), letter('m2')]] as const)
    await expect(letters.redrive(selection, ana)).rejects.toMatchObject({ code: 'PARTLY_APPLIED' })
  expect(await letters.redrives()).toEqual([])
  const { id, selected } = await letters.redrive({ reason: 'PARTLY_APPLIED' }, ana)
  expect(selected).toBe(1)
  await letters.stopRedrive(id, ana)
  expect(await letters.redrive(letter('m2'), ana)).toMatchObject({ selected: 1 })
})

test('a letter that dies half applied while a redrive of many starts stops that redrive', async () => {
  const store = memoryStore()
  const parked = (...rows: NewParkedMessage[]) => store.transaction((tx) => store.parking.park(tx, rows))
  await parked(parkedMessage('m1', { state: 'dead' }))
  const { letters } = operations({
    ...store,
    async transaction(work, options) {
      await parked(parkedMessage('m2', { state: 'dead', reason: 'PARTLY_APPLIED' }))
      return await store.transaction(work, options)
    },
  })
  await expect(letters.redrive('all', ana)).rejects.toMatchObject({ code: 'PARTLY_APPLIED' })
  expect(await letters.redrives()).toEqual([])
})

test('a canary that fails holds the others back', async () => {
  const { letters, rounds, runs, dead, eventsOf } = await withLetters(['m1', 'm2', 'm3'])
  await letters.redrive('all', { ...ana, canary: 1 })
  await rounds(5)
  expect(runs).toEqual(['m1'])
  expect(await dead()).toEqual(['m1', 'm2', 'm3'])
  expect(eventsOf('redrive-ended')).toMatchObject([{ state: 'stopped' }])
})

test('it keeps its pace by the clock of the database', async () => {
  const { letters, repair, runs, clock } = await withLetters(['m1', 'm2', 'm3', 'm4', 'm5'])
  repair()
  await letters.redrive('all', { ...ana, perSecond: 0.5 })
  const seen: number[] = []
  for (let second = 0; second < 10; second++) {
    await clock.advance(1_000)
    seen.push(runs.length)
  }
  expect(seen.at(-1)).toBe(5)
  // A look one second later sees at most what its pace allows by then.
  for (const [second, count] of seen.entries()) expect(count).toBeLessThanOrEqual(Math.floor((second + 1) * 0.5) + 1)
})

test('it keeps its pace when it was started by a clock that was ahead for a moment', async () => {
  const clock = fakeClock()
  let aheadMs = 0
  const database = new MemoryDatabase({
    clock: { ...clock, now: () => new Date(clock.now().getTime() + aheadMs) },
  })
  const { letters, repair, runs, store } = await withLetters(['m1', 'm2', 'm3', 'm4', 'm5'], { clock, database })
  repair()
  aheadMs = 400 * 86_400_000
  await databaseNow(store)
  const { id } = await letters.redrive('all', { ...ana, perSecond: 0.5 })
  aheadMs = 0
  const seen: number[] = []
  for (let second = 0; second < 12; second++) {
    await clock.advance(1_000)
    seen.push(runs.length)
  }
  expect(seen.at(-1)).toBe(5)
  for (const [second, count] of seen.entries()) expect(count).toBeLessThanOrEqual(Math.floor((second + 1) * 0.5) + 1)
  expect(await letters.redriveStatus(id)).toMatchObject({ state: 'finished', succeeded: 5 })
})

test('several processes keep its pace together, also after a time in which none of them ran', async () => {
  const ids = Array.from({ length: 80 }, (_, index) => `m${index}`)
  const clock = fakeClock()
  const database = new MemoryDatabase({ clock })
  const { app, letters } = await withLetters(ids, { clock, database })
  const { id } = await letters.redrive('all', { ...ana, perSecond: 5, stopAfterFailures: 100 })
  await app.stop()
  await clock.advance(3_600_000)
  let tried = 0
  for (let process = 0; process < 4; process++) {
    const opened = openApp({ clock, database })
    opened.app.on('note.created', 'tag-note', () => void tried++)
    await opened.app.start()
  }
  // What three seconds bring may follow at once, because a look may take that long.
  for (let second = 1; second <= 4; second++) {
    await clock.advance(1_000)
    expect(tried).toBeGreaterThanOrEqual(second * 5)
    expect(tried).toBeLessThanOrEqual(15 + second * 5)
  }
  expect((await letters.redriveStatus(id)).startedAt).toEqual((await letters.redrives())[0]?.startedAt)
})

test('stopping holds back what was not released, and says who did it', async () => {
  const { app, letters, repair, rounds, runs, eventsOf, dead } = await withLetters(['m1', 'm2', 'm3'])
  repair()
  const { id } = await letters.redrive('all', { ...ana, perSecond: 0.001 })
  await rounds()
  expect(await letters.redriveStatus(id)).toMatchObject({ unreleased: 2, untried: 0, failed: 0, succeeded: 1 })
  expect(await letters.stopRedrive(id, { by: 'bo', why: 'too slow' })).toBe(true)
  expect(await letters.stopRedrive(id, { by: 'bo' })).toBe(false)
  await rounds(5)
  expect(runs).toEqual(['m1'])
  expect(await dead()).toEqual(['m2', 'm3'])
  expect(eventsOf('redrive-ended')).toEqual([{ kind: 'redrive-ended', id, state: 'stopped' }])
  expect((await app.operations.audit())[0]).toMatchObject({
    action: 'stop-redrive',
    by: 'bo',
    why: 'too slow',
    subject: { id },
  })
  expect(await app.operations.audit()).toHaveLength(2)
  expect(await letters.redrive('all', ana)).toMatchObject({ selected: 2 })
})

test('an edited letter runs with the new body under its id, and a late copy of the received one is a duplicate', async () => {
  const { app, handle, clock, store } = openApp()
  const bodies: unknown[] = []
  app.on('note.created', { name: 'tag-note', ...once }, ({ id, body, headers }) => {
    bodies.push([id, body, headers])
    if ((body as { ok?: boolean }).ok !== true) throw new Error('no')
  })
  const received = note('m1', { body: { ok: false }, headers: { trace: 't1' } })
  await handle(received)
  await app.stop()
  const { id } = await app.operations.letters.redrive(letter('m1'), { by: 'ana', body: { ok: true } })
  expect(await app.operations.letters.get(letter('m1'))).toMatchObject({
    edited: true,
    body: { ok: true },
    originalBody: { ok: false },
    redrive: id,
  })
  expect(await app.operations.audit()).toMatchObject([
    { action: 'redrive', subject: { id } },
    { action: 'edit', by: 'ana', subject: { ...letter('m1'), redrive: id } },
  ])
  const next = openApp({ store, clock })
  next.app.on('note.created', { name: 'tag-note', ...once }, ({ id, body, headers }) => {
    bodies.push([id, body, headers])
  })
  await next.handle()
  for (let round = 0; round < 3; round++) await clock.advance(1_000)
  await next.handle(received)
  expect(bodies).toEqual([
    ['m1', { ok: false }, { trace: 't1' }],
    ['m1', { ok: true }, { trace: 't1' }],
  ])
  expect(await countParked(store)).toBe(0)
})

test('an edited letter that had reached no handler keeps both bodies in its handler, and a late copy of the received one is a duplicate', async () => {
  const { app: before, handle: handleBefore, clock, store } = openApp()
  before.on('note.changed', 'tag-note', () => {})
  const received = note('m1', { body: { no: 7 } })
  await handleBefore(received)
  await before.stop()
  const { app, handle } = openApp({ store, clock })
  const bodies: unknown[] = []
  let isBroken = true
  app.on('note.created', { name: 'tag-note', ...once }, ({ body }) => {
    bodies.push(body)
    if (isBroken) throw new Error('no')
  })
  await handle()
  const rounds = async () => {
    for (let round = 0; round < 3; round++) await clock.advance(1_000)
  }
  const { letters } = app.operations
  await letters.redrive(await letters.list(), { by: 'ana', body: { no: 8 } })
  await rounds()
  expect(await letters.list()).toMatchObject([{ ...letter('m1'), body: { no: 8 }, originalBody: { no: 7 } }])
  isBroken = false
  await letters.redrive(letter('m1'), { by: 'ana' })
  await rounds()
  await handle(received)
  expect(bodies).toEqual([{ no: 8 }, { no: 8 }])
  expect(await countParked(store)).toBe(0)
})

test('the preview counts what would run, what waits behind it, what is done and what has expired', async () => {
  const { app, handle, clock } = openApp()
  const expiresAt = new Date(clock.now().getTime() + 1_000)
  app.on('note.created', 'first', ({ id }, { tx }) => write(tx, `first ${id}`))
  app.on('note.created', { name: 'second', ...once }, () => {
    throw new Error('no')
  })
  app.on('note.created', 'third', ({ id }, { tx }) => write(tx, `third ${id}`))
  app.on('note.created', { name: 'apart', independent: true }, ({ id }, { tx }) => write(tx, `apart ${id}`))
  await handle(note('m1'), note('m2'), note('late', { expiresAt }))
  await clock.advance(2_000)
  expect(await app.operations.letters.preview('all')).toEqual({
    letters: 3,
    wouldRun: { second: 2, third: 2 },
    alreadyDone: { first: 3, apart: 3 },
    tooOld: 0,
    expired: 1,
  })
  expect(await app.operations.letters.preview(letter('m1', 'second'))).toMatchObject({
    letters: 1,
    wouldRun: { second: 1, third: 1 },
  })
  const nothing = { wouldRun: {}, alreadyDone: {}, tooOld: 0, expired: 0 }
  expect(await app.operations.letters.preview({ handler: 'another' })).toEqual({ letters: 0, ...nothing })
})

test('a selection of more than a page is previewed, redriven and discarded whole', async () => {
  const { letters, store, repair, rounds, effects } = await withLetters(['m0'])
  const [row] = await store.parking.list()
  const received = unpackMessage((row as NonNullable<typeof row>).message)
  await store.transaction(async (tx) => {
    const ids = Array.from({ length: 2_100 }, (_, index) => `c${index}`)
    await store.parking.park(
      tx,
      ids.map((id) => ({
        ...(row as NonNullable<typeof row>),
        key: id,
        messageId: id,
        message: packMessage({ ...received, id }),
        delayMs: 0,
      })),
    )
  })
  repair()
  expect(await letters.preview('all')).toMatchObject({ letters: 2_101, wouldRun: { 'tag-note': 2_101 } })
  expect(await letters.redrive(letter('m0'), ana)).toMatchObject({ selected: 1 })
  expect(await letters.preview('all')).toMatchObject({ letters: 2_100 })
  expect(await letters.discard('all', ana)).toBe(2_100)
  await rounds()
  expect(effects()).toEqual({ m0: 1 })
})

test('a driver that the store leaves waits, and goes on when it is back', async () => {
  const { letters, store, repair, rounds, clock, eventsOf, effects } = await withLetters(['m1'])
  repair()
  const { read } = store.facts
  let failures = 0
  await letters.redrive('all', ana)
  Object.assign(store.facts, {
    read: async (names: readonly string[]) => {
      if (++failures < 3) throw new Error('no luck')
      return await read(names)
    },
  })
  await rounds(2)
  expect(eventsOf('loop-failed')).toMatchObject([{ loop: 'redrives' }, { loop: 'redrives' }])
  expect(effects()).toEqual({})
  await clock.advance(3_000)
  expect(effects()).toEqual({ m1: 1 })
})

test('letters that cannot be had now are asked for later, not again and again', async () => {
  const { letters, store, rounds } = await withLetters(['m1'])
  let asked = 0
  const { edit } = store.parking
  Object.assign(store.parking, {
    edit: async (...given: Parameters<typeof edit>) => {
      if (given[2].kind !== 'release') return await edit(...given)
      if (++asked > 50) throw new Error('asked without end')
      return []
    },
  })
  await letters.redrive('all', ana)
  await rounds(3)
  expect(asked).toBeGreaterThanOrEqual(2)
  expect(asked).toBeLessThanOrEqual(4)
})

test('letters as they are listed are a selection, one or many', async () => {
  const { app, letters, dead } = await withLetters(['m1', 'm2', 'm3'])
  await app.stop()
  const [first, ...others] = await letters.list()
  expect(await letters.redrive(first as NonNullable<typeof first>, ana)).toMatchObject({ selected: 1 })
  expect(await letters.discard(others, ana)).toBe(2)
  expect(await dead()).toEqual(['m1'])
})

test('of several each has its turn: one that keeps a slow pace does not hold up another', async () => {
  const { letters, repair, rounds, runs } = await withLetters(['m1', 'm2', 'm3', 'm4'])
  repair()
  await letters.redrive([letter('m1'), letter('m2')], { ...ana, perSecond: 0.001 })
  await letters.redrive([letter('m3'), letter('m4')], ana)
  await rounds()
  expect(runs.toSorted()).toEqual(['m1', 'm3', 'm4'])
  expect(await letters.redrives()).toMatchObject([{ state: 'finished' }, { state: 'running' }])
})
