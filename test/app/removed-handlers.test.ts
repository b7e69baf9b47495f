import { expect, test } from 'vitest'
import { countParked } from '../../src/operations/index.ts'
import { MemoryDatabase } from '../../src/stores/memory/index.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { note, openApp, write } from './open-app.ts'

const minuteMs = 60_000
const signed = { by: 'operator' }

/** A process with these handlers of one type, of which `first` always fails. */
function openVersion(
  shared: { database: MemoryDatabase; clock: ReturnType<typeof fakeClock> },
  names: readonly string[],
) {
  const opened = openApp(shared)
  for (const name of names) {
    const retry = { attempts: 1_000, backoff: () => 2 * minuteMs }
    opened.app.on('note.created', { name, retry, breaker: false }, ({ id }, { tx }) => {
      if (name === 'first') throw new Error('no')
      write(tx, `${name} ${id}`)
    })
  }
  return opened
}

function openWorld() {
  const clock = fakeClock()
  return { clock, database: new MemoryDatabase({ clock }) }
}

test('what waits for a handler that nobody has any more is reported and becomes a dead letter, and what follows it goes on', async () => {
  const world = openWorld()
  const before = openVersion(world, ['first', 'second'])
  await before.handle(note('m1'), note('m2'))
  await before.app.stop()
  const after = openVersion(world, ['second'])
  await after.app.start()
  await world.clock.advance(0)
  // The old process may have been heard of until a moment ago.
  await world.clock.advance(4 * minuteMs)
  expect(after.eventsOf('handlers-unknown')).toMatchObject([{ waiting: { 'first (note.created)': 2 } }])
  expect(after.effects()).toEqual({})
  await world.clock.advance(10 * minuteMs)
  expect(after.effects()).toEqual({ 'second m1': 1, 'second m2': 1 })
  const letters = await after.app.operations.letters.list({ handler: 'first' })
  expect(letters.map(({ key, reason }) => [key, reason])).toEqual([
    ['m1', 'HANDLER_UNKNOWN'],
    ['m2', 'HANDLER_UNKNOWN'],
  ])
  expect(after.eventsOf('parked').filter(({ reason }) => reason === 'HANDLER_UNKNOWN')).toHaveLength(2)
  expect(await after.app.operations.letters.discard({ handler: 'first', key: 'm1' }, signed)).toBe(1)
})

test('what is redriven runs when an app has the handler again, under its old name or a new one', async () => {
  const world = openWorld()
  const before = openVersion(world, ['first', 'second'])
  await before.handle(note('m1'))
  await before.app.stop()
  const without = openVersion(world, ['second'])
  await without.app.start()
  await world.clock.advance(15 * minuteMs)
  await without.app.stop()
  const renamed = openApp(world)
  renamed.app.on('note.created', { name: 'new-first', formerly: ['first'] }, ({ id }, { tx }) => write(tx, `new ${id}`))
  await renamed.app.start()
  await renamed.app.operations.letters.redrive({ handler: 'first', key: 'm1' }, signed)
  await world.clock.advance(minuteMs)
  expect(renamed.effects()).toEqual({ 'second m1': 1, 'new m1': 1 })
  expect(await countParked(renamed.store)).toBe(0)
})

test('what follows a letter goes on also if its handler is removed in the middle of a redrive, which counts it as failed', async () => {
  const world = openWorld()
  const before = openApp(world)
  const retry = { attempts: 2, backoff: (attempts: number) => (isDying ? 'dead' : attempts * 2 * minuteMs) } as const
  let isDying = true
  before.app.on('note.created', { name: 'first', retry, breaker: false }, () => {
    throw new Error('no')
  })
  before.app.on('note.created', 'second', ({ id }, { tx }) => write(tx, `second ${id}`))
  await before.handle(note('m1'))
  isDying = false
  const { id } = await before.app.operations.letters.redrive({ handler: 'first', key: 'm1' }, signed)
  await world.clock.advance(minuteMs)
  await before.app.stop()
  expect(before.effects()).toEqual({})

  const after = openVersion(world, ['second'])
  await after.app.start()
  await world.clock.advance(15 * minuteMs)
  expect(after.effects()).toEqual({ 'second m1': 1 })
  const [letter] = await after.app.operations.letters.list()
  expect(letter).toMatchObject({ handler: 'first', reason: 'HANDLER_UNKNOWN' })
  expect(await after.app.operations.letters.redriveStatus(id)).toMatchObject({ state: 'finished', failed: 1 })
})

test('the body that was received is kept when a letter was edited and its handler is removed again', async () => {
  const world = openWorld()
  const removeFirst = async () => {
    const without = openVersion(world, ['second'])
    await without.app.start()
    for (let minutes = 0; minutes < 15; minutes++) await world.clock.advance(minuteMs)
    await without.app.stop()
  }
  const before = openVersion(world, ['first', 'second'])
  await before.handle(note('m1'))
  const received = (await before.store.parking.list({ handler: 'first' }))[0]?.message.body
  await before.app.stop()
  await removeFirst()
  const again = openVersion(world, ['first', 'second'])
  await again.app.start()
  const { id } = await again.app.operations.letters.redrive(
    { handler: 'first', key: 'm1' },
    { ...signed, body: { text: 'edited' } },
  )
  await world.clock.advance(minuteMs)
  expect((await again.app.operations.letters.redriveStatus(id)).state).toBe('finished')
  await again.app.stop()
  await removeFirst()
  expect(await again.store.parking.list({ handler: 'first' })).toMatchObject([
    { state: 'dead', reason: 'HANDLER_UNKNOWN', originalBody: received },
  ])
})

test('while a process that knows the handler is running, nothing becomes of what waits for it elsewhere', async () => {
  const world = openWorld()
  const old = openVersion(world, ['first', 'second'])
  const young = openVersion(world, ['second'])
  await old.handle(note('m1'))
  await young.app.start()
  for (let minutes = 0; minutes < 60; minutes++) await world.clock.advance(minuteMs)
  expect(await young.app.operations.letters.list()).toEqual([])
  expect(young.eventsOf('handlers-unknown')).toEqual([])
  expect((await old.store.parking.list({ handler: 'first' }))[0]?.attempts).toBeGreaterThan(20)
})
