import { expect, test } from 'vitest'
import { justonce } from '../../src/index.ts'
import { type MemoryStore, memoryStore, memoryTransport } from '../../src/memory.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { later, note, openApp } from './open-app.ts'

test('health says the state of the app, and what waits in the store', async () => {
  const { app, store, handle, transport } = openApp()
  const once = { name: 'give-up', retry: { attempts: 1 } }
  app.on('note.created', { name: 'tag-note', ...later }, () => Promise.reject(new Error('no')))
  app.on('note.removed', once, () => Promise.reject(new Error('no')))
  expect(await app.health()).toMatchObject({ state: 'new', lag: { outgoing: {}, parked: { waiting: 0, dead: 0 } } })
  await handle(note('m1'), note('m2'), note('m3', { type: 'note.removed' }))
  const refused = { kind: 'refused' as const, error: new Error('full') }
  transport.publish = async (messages) => messages.map(() => refused)
  await store.transaction((tx) => app.publish('note.created', {}, { tx, id: 'o1' }))
  expect(await app.health()).toMatchObject({
    state: 'started',
    store: { state: 'up' },
    from: { memory: {} },
    lag: { outgoing: { memory: expect.objectContaining({ oldestMs: 0 }) }, parked: { waiting: 2, dead: 1 } },
  })
})

test('while the store is away, or does not answer in time, health says so and never rejects', async () => {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  const error = new Error('gone')
  let tally = (): Promise<never> => Promise.reject(error)
  const parking = { ...store.parking, tally: () => tally() }
  const app = justonce({ store: { ...store, parking }, transport: memoryTransport(), clock })
  const downSince = clock.now()
  expect(await app.health()).toMatchObject({ store: { state: 'down', since: downSince, error }, lag: undefined })
  let asked = 0
  tally = () => {
    asked++
    return new Promise(() => {})
  }
  const looks = [app.health({ withinMs: 500 }), app.health({ withinMs: 500 })]
  await clock.advance(500)
  for (const look of looks)
    expect(await look).toMatchObject({ store: { state: 'down', since: downSince }, lag: undefined })
  expect(asked).toBe(1)
})

test('one connection that never answers does not make a store look down for ever', async () => {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  let asked = 0
  const tally: MemoryStore['parking']['tally'] = (...given) =>
    ++asked === 1 ? new Promise<never>(() => {}) : store.parking.tally(...given)
  const app = justonce({ store: { ...store, parking: { ...store.parking, tally } }, clock, to: memoryTransport() })
  const look = app.health({ withinMs: 500 })
  await clock.advance(500)
  expect((await look).store.state).toBe('down')
  await clock.advance(9_500)
  expect((await app.health()).store).toEqual({ state: 'up', since: clock.now() })
})

test('a store that never answers is asked no more than three times at once', async () => {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  let asked = 0
  const tally = () => {
    asked++
    return new Promise<never>(() => {})
  }
  const app = justonce({ store: { ...store, parking: { ...store.parking, tally } }, clock, to: memoryTransport() })
  for (let round = 0; round < 10; round++) {
    const look = app.health({ withinMs: 500 })
    await clock.advance(20_000)
    expect((await look).store.state).toBe('down')
  }
  expect(asked).toBe(3)
})

test('health says since when the store is back', async () => {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  let isAway = true
  const tally: MemoryStore['parking']['tally'] = (...given) =>
    isAway ? Promise.reject(new Error('gone')) : store.parking.tally(...given)
  const app = justonce({ store: { ...store, parking: { ...store.parking, tally } }, clock, to: memoryTransport() })
  await app.health()
  await clock.advance(1_000)
  isAway = false
  expect((await app.health()).store).toEqual({ state: 'up', since: clock.now() })
})

test('what is heard from a broker is in its health for a minute', async () => {
  const clock = fakeClock()
  const broken = {
    ...memoryTransport({ name: 'broker' }),
    async *deliveries({ signal }: { readonly signal: AbortSignal }): AsyncGenerator<never> {
      if (clock.monotonicMs() < 5_000) throw new Error('refused to connect')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  }
  const app = justonce({ store: memoryStore({ clock }), clock, from: broken, log: false })
  app.on('note.created', 'tag-note', () => {})
  await app.start()
  await clock.advance(500)
  expect((await app.health()).from).toMatchObject({
    broker: { trouble: { message: expect.stringMatching(/refused/) } },
  })
  await clock.advance(90_000)
  expect((await app.health()).from).toEqual({ broker: {} })
  await app.stop()
})
