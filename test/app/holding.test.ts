import { expect, test } from 'vitest'
import type { Delivery, Settlement } from '../../src/driver.ts'
import type { Transport } from '../../src/index.ts'
import { MemoryDatabase, type MemoryStore, memoryStore, memoryTransport } from '../../src/memory.ts'
import { countParked } from '../../src/operations/index.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { note, openApp, write } from './open-app.ts'

/** A store that can be cut off, and a transport that writes down how everything was settled. */
function openWithOutages(inFlight: Transport['inFlight'] = {}) {
  const clock = fakeClock()
  const inner = memoryStore({ database: new MemoryDatabase({ clock }) })
  const outage = new Error('connection refused')
  const state = { isDown: false, pings: 0, failAfter: Number.POSITIVE_INFINITY }
  const store: MemoryStore = {
    ...inner,
    async transaction(work, options) {
      if (state.failAfter-- <= 0) state.isDown = true
      if (state.isDown) throw outage
      return inner.transaction(work, options)
    },
    async ping() {
      state.pings++
      if (state.isDown) throw outage
    },
    classify: (error) => (error === outage ? 'unavailable' : inner.classify(error)),
  }
  const transport = memoryTransport()
  const settled: [Settlement['kind'], string | undefined][] = []
  const wrapped: Transport = {
    ...transport,
    inFlight,
    async settle(deliveries: readonly Delivery[], settlement: Settlement) {
      settled.push(
        ...deliveries.map(({ message }): [Settlement['kind'], string | undefined] => [settlement.kind, message.id]),
      )
      await transport.settle(deliveries, settlement)
    },
  }
  return { ...openApp({ store, clock, transport, wrapped }), state, settled, inner }
}

test('while the store is down deliveries are held, not given back, and each takes effect once when it is up', async () => {
  const { app, clock, transport, state, settled, inner, eventsOf } = openWithOutages()
  app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  await app.start()
  state.isDown = true
  transport.send([note('m1'), note('m2'), note('m3')])
  await clock.advance(60_000)
  expect(settled).toEqual([])
  expect(transport.unsettled()).toHaveLength(3)
  expect(eventsOf('store-down')).toHaveLength(1)
  expect(state.pings).toBeGreaterThan(3)
  expect(eventsOf('store-up')).toEqual([])

  state.isDown = false
  await clock.advance(10_000)
  expect(settled).toEqual([
    ['done', 'm1'],
    ['done', 'm2'],
    ['done', 'm3'],
  ])
  expect(eventsOf('store-up')).toHaveLength(1)
  expect(await inner.transaction(async (tx) => tx.entries())).toEqual([
    ['m1', 1],
    ['m2', 1],
    ['m3', 1],
  ])
})

test('what was settled before the store went down is not settled again', async () => {
  const { app, clock, transport, state, settled } = openWithOutages()
  app.on('note.created', { name: 'tag-note', transaction: 'own' }, ({ id }, { tx }) => write(tx, id))
  await app.start()
  await clock.advance(0)
  // Each has a transaction of its own: two of them succeed.
  state.failAfter = 2
  transport.send([note('m1'), note('m2'), note('m3')])
  await clock.advance(0)
  expect(settled.map(([, id]) => id)).toEqual(['m1', 'm2'])
  state.failAfter = Number.POSITIVE_INFINITY
  state.isDown = false
  await clock.advance(10_000)
  expect(settled).toEqual([
    ['done', 'm1'],
    ['done', 'm2'],
    ['done', 'm3'],
  ])
})

test('while the store is down no more is taken than fits, and none of it is handled', async () => {
  const { app, clock, transport, state } = openWithOutages()
  let runs = 0
  app.on('note.created', 'tag-note', () => void runs++)
  await app.start()
  state.isDown = true
  for (let i = 0; i < 50; i++) {
    transport.send(Array.from({ length: 10 }, (_, index) => note(`m${i}-${index}`)))
    await clock.advance(100)
  }
  expect(runs).toBe(0)
  expect(transport.unsettled().length).toBeLessThanOrEqual(100)
  state.isDown = false
  await clock.advance(60_000)
  expect(runs).toBe(500)
  expect(transport.settled()).toHaveLength(500)
})

test('stopping while the store is down gives everything back and ends', async () => {
  const { app, clock, transport, state, settled, events } = openWithOutages()
  app.on('note.created', 'tag-note', () => {})
  await app.start()
  state.isDown = true
  transport.send([note('m1'), note('m2')])
  await clock.advance(1_000)
  await app.stop()
  expect(settled.map(([kind]) => kind)).toEqual(['release', 'release'])
  expect(transport.pending()).toHaveLength(2)
  expect(clock.waiting()).toBe(0)
  expect(events.filter(({ kind }) => kind === 'store-up')).toEqual([])
})

test('a store that goes away under a handler undoes the batch, counts no attempt, and the batch comes again', async () => {
  const { app, clock, transport, state, inner, settled } = openWithOutages()
  let runs = 0
  app.on('note.created', 'tag-note', ({ id }, { tx }) => {
    write(tx, id)
    if (id === 'm2' && runs++ === 0) state.isDown = true
  })
  const { lend } = inner
  inner.lend = (tx, options) => {
    const loan = lend(tx, options)
    return { ...loan, end: () => ({ ...loan.end(), trouble: state.isDown ? 'unavailable' : 'none' }) }
  }
  await app.start()
  transport.send([note('m1'), note('m2')])
  await clock.advance(60_000)
  state.isDown = false
  await clock.advance(60_000)
  expect(settled).toEqual([
    ['done', 'm1'],
    ['done', 'm2'],
  ])
  expect(await countParked(inner)).toBe(0)
  expect(await inner.transaction(async (tx) => tx.entries())).toEqual([
    ['m1', 1],
    ['m2', 1],
  ])
})

test('what a breaker holds is parked before it is so old that it would go back: brokers count that, and drop it', async () => {
  const { app, clock, transport, settled, inner } = openWithOutages({ ageMs: 900_000 })
  let isBroken = true
  app.on('note.created', { name: 'tag-note', retry: { backoff: () => 86_400_000 } }, ({ id }, { tx }) => {
    if (isBroken) throw new Error('a bad deploy')
    write(tx, id)
  })
  await app.start()
  transport.send(Array.from({ length: 60 }, (_, index) => note(`m${index}`)))
  for (let minute = 0; minute < 60; minute++) await clock.advance(60_000)
  expect(new Set(settled.map(([kind]) => kind))).toEqual(new Set(['done']))
  expect(await countParked(inner)).toBe(60)
  const tried = (await inner.parking.list()).filter(({ attempts }) => attempts > 0).length
  isBroken = false
  for (let minute = 0; minute < 60; minute++) await clock.advance(60_000)
  expect(await countParked(inner)).toBeLessThanOrEqual(tried)
})
