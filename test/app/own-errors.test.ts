import { expect, test } from 'vitest'
import { JustonceError } from '../../src/errors/index.ts'
import { countParked } from '../../src/operations/index.ts'
import { MemoryDatabase, type MemoryStore, memoryStore } from '../../src/stores/memory/index.ts'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.ts'
import { note, openApp, write } from './open-app.ts'

/** A store in which a statement of ours is wrong: neither a conflict nor an outage, and the same for every message. */
function openBroken(part: 'claim' | 'take' | 'reserve', isBroken = true) {
  const clock = fakeClock()
  const database = new MemoryDatabase({ clock })
  const sound = memoryStore({ database })
  const state = { isBroken, calls: 0 }
  const error = new TypeError(`Cannot read properties of undefined (reading '${part}')`)
  const guarded =
    <Args extends unknown[], T>(call: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      state.calls++
      if (state.isBroken) throw error
      return await call(...args)
    }
  const store: MemoryStore = {
    ...sound,
    inbox: { ...sound.inbox, ...(part === 'claim' && { claim: guarded(sound.inbox.claim) }) },
    parking: {
      ...sound.parking,
      ...(part === 'take' && { take: guarded(sound.parking.take) }),
      ...(part === 'reserve' && { reserve: guarded(sound.parking.reserve) }),
    },
  }
  return { ...openApp({ clock, database, store, concurrency: 2 }), state, error }
}

async function pass(clock: FakeClock, ms: number, stepMs = 250): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) await clock.advance(stepMs)
}

const ids = ['m1', 'm2', 'm3', 'm4', 'm5', 'm6']

test('a claim that is wrong for every message is reported at growing pauses; nothing is parked, dropped or run', async () => {
  const { app, transport, clock, store, effects, eventsOf, state, error } = openBroken('claim')
  app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  transport.send(ids.map((id) => note(id)))
  await app.start()
  await pass(clock, 600_000)
  expect(transport.settled()).toEqual([])
  expect(await countParked(store)).toBe(0)
  expect(effects()).toEqual({})
  for (const id of ids) {
    const stuck = eventsOf('stuck').filter(({ messageId }) => messageId === id)
    expect(stuck.slice(0, 8).map(({ pauseMs }) => pauseMs / 1_000)).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
    expect(stuck.every((event) => event.error === error)).toBe(true)
  }
  const inTenMinutes = state.calls
  expect(inTenMinutes).toBeLessThan(ids.length * 100)
  await pass(clock, 600_000)
  expect(state.calls - inTenMinutes).toBeLessThan(ids.length * 60)
  state.isBroken = false
  await pass(clock, 61_000)
  expect(effects()).toEqual(Object.fromEntries(ids.map((id) => [id, 1])))
  expect(transport.settled()).toHaveLength(ids.length)
  expect(await countParked(store)).toBe(0)
})

test.each(['take', 'reserve'] as const)('so is one about parked messages (%s)', async (part) => {
  const { app, handle, clock, store, effects, events, state, error } = openBroken(part, false)
  let isFailing = true
  app.on('note.created', { name: 'tag-note', breaker: false, retry: { backoff: () => 1_000 } }, ({ id }, { tx }) => {
    if (isFailing) throw new Error('not yet')
    write(tx, id)
  })
  await handle(...ids.map((id) => note(id)))
  isFailing = false
  state.isBroken = true
  state.calls = 0
  await pass(clock, 600_000)
  expect(effects()).toEqual({})
  expect((await store.parking.list()).map(({ state: at, attempts }) => [at, attempts])).toEqual(
    ids.map(() => ['waiting', 1]),
  )
  const seen = events.filter(
    (event) => (event.kind === 'stuck' || event.kind === 'loop-failed') && event.error === error,
  )
  expect(seen.length).toBeGreaterThan(5)
  // Six rows with a pause of up to a minute each, or one loop with up to half a minute.
  expect(seen.length).toBeLessThan(part === 'take' ? ids.length * 20 : 40)
  expect(state.calls).toBeLessThan(seen.length * 6)
  state.isBroken = false
  await pass(clock, 61_000)
  expect(effects()).toEqual(Object.fromEntries(ids.map((id) => [id, 1])))
  expect(await countParked(store)).toBe(0)
})

test('a message whose record has no partition yet is held for as long as that takes, and not parked although it could be', async () => {
  const { app, transport, clock, store, effects, eventsOf } = openApp()
  const { claim } = store.inbox
  let isMissing = true
  store.inbox.claim = async (tx, requests) => {
    if (isMissing && requests.some(({ key }) => key === 'old'))
      throw new JustonceError('PARTITION_MISSING', { message: 'There is no partition for records of that day.' })
    return await claim(tx, requests)
  }
  app.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, ({ id }, { tx }) => write(tx, id))
  transport.send([note('m1'), note('old'), note('m2')])
  await app.start()
  await pass(clock, 600_000)
  expect(effects()).toEqual({ m1: 1, m2: 1 })
  expect(await countParked(store)).toBe(0)
  expect(eventsOf('stuck').every(({ messageId }) => messageId === 'old')).toBe(true)
  isMissing = false
  await pass(clock, 61_000)
  expect(effects()).toEqual({ m1: 1, m2: 1, old: 1 })
  expect(transport.settled()).toHaveLength(3)
})
