import { expect, onTestFinished, test } from 'vitest'
import { note, write } from '../../test/app/open-app.ts'
import { openEngine } from '../../test/app/open-engine.ts'
import { callTimerOf } from '../engine/calls/call-timer.ts'
import { StoreGate } from '../loops/store-gate.ts'
import { countParked } from '../operations/index.ts'
import type { MemoryStore } from '../stores/memory/index.ts'
import { Quarantine } from './quarantine.ts'
import { Retrier } from './retrier.ts'

/** Three messages that have failed once and are due after a second. */
async function openRetrier() {
  const opened = openEngine()
  const { engine, feed, clock, store, on, handle } = opened
  const state = { isBroken: true, trouble: undefined as Error | undefined }
  on('note.created', { name: 'tag-note', retry: { backoff: () => 1_000 } }, ({ id }, { tx }) => {
    write(tx, id)
    if (state.isBroken) throw new Error('not yet')
  })
  await handle(note('m1'), note('m2'), note('m3'))
  state.isBroken = false
  const outage = new Error('connection refused')
  const unreliable: Pick<MemoryStore, 'transaction' | 'classify' | 'ping'> = {
    async transaction(work, options) {
      if (state.trouble !== undefined) throw state.trouble
      return store.transaction(work, options)
    },
    classify: (error) => (error === outage ? 'unavailable' : store.classify(error)),
    async ping() {
      if (state.trouble !== undefined) throw state.trouble
    },
  }
  Object.assign(engine, { store: { ...store, ...unreliable } })
  const gate = new StoreGate(engine.store, clock, engine.events)
  const retrier = new Retrier(
    engine,
    feed,
    { gate, quarantine: new Quarantine(engine) },
    { pollMs: 500, batch: 100, concurrency: 1 },
  )
  onTestFinished(() => retrier.stop())
  return { ...opened, retrier, state, outage, gate }
}

test('it gives all that are due their attempt, one after the other without a pause', async () => {
  const { retrier, clock, effects, store } = await openRetrier()
  retrier.start()
  await clock.advance(999)
  expect(effects()).toEqual({})
  await clock.advance(501)
  expect(effects()).toEqual({ m1: 1, m2: 1, m3: 1 })
  expect(await countParked(store)).toBe(0)
})

test('while the store is down it waits at the gate; no attempt is counted', async () => {
  const { retrier, clock, effects, state, outage, gate, store, eventsOf } = await openRetrier()
  state.trouble = outage
  retrier.start()
  await clock.advance(60_000)
  expect(gate.isOpen).toBe(false)
  expect(eventsOf('store-down')).toHaveLength(1)
  expect((await store.parking.list()).map(({ attempts }) => attempts)).toEqual([1, 1, 1])
  state.trouble = undefined
  await clock.advance(10_000)
  expect(effects()).toEqual({ m1: 1, m2: 1, m3: 1 })
})

test('a booking whose answer is lost with the store is no death, however often that happens', async () => {
  const { retrier, clock, effects, engine, state, outage, store, eventsOf } = await openRetrier()
  let lost = 0
  const rebook: typeof store.parking.rebook = async (bookings, forMs) => {
    if (state.trouble !== undefined) throw state.trouble
    const revisions = await store.parking.rebook(bookings, forMs)
    if (!bookings.some(({ begun }) => begun > 0) || lost === 30) return revisions
    lost++
    state.trouble = outage
    throw outage
  }
  Object.assign(engine, { store: { ...engine.store, parking: { ...store.parking, rebook } } })
  retrier.start()
  for (let seconds = 0; seconds < 600; seconds++) {
    await clock.advance(1_000)
    state.trouble = undefined
  }
  expect(lost).toBe(30)
  expect(eventsOf('quarantined')).toEqual([])
  expect(effects()).toEqual({ m1: 1, m2: 1, m3: 1 })
})

test('any other trouble is reported, and it looks again a little later', async () => {
  const { retrier, clock, effects, state, eventsOf } = await openRetrier()
  const error = new Error('permission denied')
  state.trouble = error
  retrier.start()
  await clock.advance(1_400)
  expect(eventsOf('stuck')).toMatchObject([{ messageId: 'm1', error }])
  state.trouble = undefined
  await clock.advance(500)
  // The one that has met it waits for as long as the event said.
  expect(effects()).toEqual({ m2: 1, m3: 1 })
  await clock.advance(1_000)
  expect(effects()).toEqual({ m1: 1, m2: 1, m3: 1 })
  expect(eventsOf('quarantined')).toEqual([])
})

test('stopping ends its sleep', async () => {
  const { retrier, clock } = await openRetrier()
  retrier.start()
  await clock.advance(0)
  await retrier.stop()
  // Of the calls of handlers. It is the app's to stop.
  callTimerOf(clock).rest()
  expect(clock.waiting()).toBe(0)
})

test('where looking for due messages takes long, it looks less often', async () => {
  const { retrier, clock, engine, store } = await openRetrier()
  const looksAt: number[] = []
  const reserve: typeof store.parking.reserve = async () => {
    looksAt.push(clock.monotonicMs())
    await clock.sleep(1_000)
    return []
  }
  Object.assign(engine, { store: { ...store, parking: { ...store.parking, reserve } } })
  const begunAt = clock.monotonicMs()
  retrier.start()
  await clock.advance(11_000)
  expect(looksAt.map((at) => at - begunAt)).toEqual([0, 5_000, 10_000])
})

test('while a handler has as many messages as it wants, its retries wait for one to end, and those of others go on', async () => {
  const opened = openEngine()
  const { engine, feed, clock, on, handle, effects } = opened
  let isBroken = true
  const work = ({ id }: { readonly id: string }, { tx }: Parameters<Parameters<typeof on>[2]>[1]) => {
    write(tx, id)
    if (isBroken) throw new Error('not yet')
  }
  on('note.created', { name: 'tag-note', concurrency: 1, retry: { backoff: () => 1_000 } }, work)
  on('note.read', { name: 'count', retry: { backoff: () => 1_000 } }, work)
  await handle(note('m1'), note('m2'), note('m3'), note('r1', { type: 'note.read' }))
  isBroken = false
  const end = engine.slots.take(engine.handlersOf('note.created'))
  const shared = { gate: new StoreGate(engine.store, clock, engine.events), quarantine: new Quarantine(engine) }
  const retrier = new Retrier(engine, feed, shared, { pollMs: 500, batch: 100, concurrency: 4 })
  onTestFinished(() => retrier.stop())
  retrier.start()
  await clock.advance(5_000)
  expect(effects()).toEqual({ r1: 1 })
  end()
  await clock.advance(0)
  expect(effects()).toEqual({ r1: 1, m1: 1, m2: 1, m3: 1 })
  expect(engine.slots.areFree(engine.handlersOf('note.created'))).toBe(true)
})
