import { expect, test } from 'vitest'
import type { Transport } from '../../src/index.ts'
import { MemoryDatabase, memoryStore, memoryTransport } from '../../src/memory.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { later, note, openApp, write } from './open-app.ts'

test('while one batch runs, everything that arrives goes into the next', async () => {
  const { app, transport, clock, quiet, effects, eventsOf } = openApp()
  const running = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  app.on('note.created', 'tag-note', async ({ id }, { tx }) => {
    write(tx, id)
    if (id !== 'm1') return
    begun.resolve()
    await running.promise
  })
  transport.send(note('m1'))
  await app.start()
  await begun.promise
  for (const id of ['m2', 'm3', 'm4']) {
    transport.send(note(id))
    await clock.advance(0)
  }
  running.resolve()
  await quiet()
  expect(eventsOf('batch').map(({ messages }) => messages)).toEqual([1, 3])
  expect(effects()).toEqual({ m1: 1, m2: 1, m3: 1, m4: 1 })
})

test('a lone message does not wait for others', async () => {
  const { app, handle, eventsOf } = openApp()
  app.on('note.created', 'tag-note', () => {})
  await handle(note('m1'))
  await handle(note('m2'))
  expect(eventsOf('batch').map(({ messages }) => messages)).toEqual([1, 1])
})

test('a slow handler gets small batches: its messages do not wait for each other in one transaction', async () => {
  const { app, clock, transport, eventsOf } = openApp({ batch: { max: 50, budgetMs: 100 } })
  app.on('note.created', 'tag-note', () => clock.sleep(50))
  transport.send(Array.from({ length: 30 }, (_, index) => note(`m${index}`)))
  await app.start()
  for (let i = 0; i < 100 && transport.settled().length < 30; i++) await clock.advance(50)
  const sizes = eventsOf('batch').map(({ messages }) => messages)
  expect(sizes[0]).toBe(8)
  expect(sizes.at(-1)).toBeLessThanOrEqual(2)
  expect(transport.settled()).toHaveLength(30)
})

test('a broker that takes long to acknowledge does not make batches small: it takes as long for one message as for many', async () => {
  const clock = fakeClock()
  const transport = memoryTransport()
  const slow: Transport = {
    ...transport,
    async settle(deliveries, settlement) {
      await clock.sleep(150)
      await transport.settle(deliveries, settlement)
    },
  }
  const { app, eventsOf } = openApp({ clock, transport, wrapped: slow, batch: { max: 50, budgetMs: 100 } })
  app.on('note.created', 'tag-note', () => {})
  transport.send(Array.from({ length: 2000 }, (_, index) => note(`m${index}`)))
  await app.start()
  for (let i = 0; i < 300 && transport.settled().length < 2000; i++) await clock.advance(50)
  const sizes = eventsOf('batch').map(({ messages }) => messages)
  expect(Math.max(...sizes)).toBe(50)
  expect(transport.settled()).toHaveLength(2000)
})

test('a handler that takes many at once gets ever more of them, until one fails: then all of its batch run again', async () => {
  const clock = fakeClock()
  const store = memoryStore({ database: new MemoryDatabase({ clock }) })
  const manyWriters = { ...store, capabilities: { ...store.capabilities, connections: 4 } }
  const { app, handle, eventsOf } = openApp({ clock, store: manyWriters, batch: undefined })
  let broken: string | undefined
  app.onBatch('note.created', { name: 'tag-notes', ...later }, (messages) => {
    if (messages.some(({ id }) => id === broken)) throw new Error('on purpose')
  })
  const largestOfTheLast = async (name: string, length: number): Promise<number> => {
    await handle(...Array.from({ length }, (_, index) => note(`${name}-${index}`)))
    return Math.max(
      ...eventsOf('batch')
        .slice(-15)
        .map(({ messages }) => messages),
    )
  }
  // Half of what may be in flight: the next batch is ready while one runs.
  expect(await largestOfTheLast('well', 8_000)).toBe(400)
  broken = 'badly-10'
  expect(await largestOfTheLast('badly', 3_500)).toBe(100)
})

test('a batch that overruns commits what it has; the rest comes first in the next one', async () => {
  const { app, clock, transport, effects, eventsOf } = openApp({ batch: { max: 50, budgetMs: 100 } })
  const order: string[] = []
  app.on('note.created', 'tag-note', async ({ id }, { tx }) => {
    order.push(id)
    write(tx, id)
    await clock.sleep(300)
  })
  transport.send(['m1', 'm2', 'm3', 'm4'].map((id) => note(id)))
  await app.start()
  for (let i = 0; i < 20; i++) await clock.advance(100)
  expect(eventsOf('batch').slice(0, 1)).toMatchObject([{ messages: 4, handled: 2 }])
  expect(order).toEqual(['m1', 'm2', 'm3', 'm4'])
  expect(effects()).toEqual({ m1: 1, m2: 1, m3: 1, m4: 1 })
})

test('never more are unsettled than two batches for each lane', async () => {
  const transport = memoryTransport()
  let most = 0
  const watched: Transport = {
    ...transport,
    async *deliveries(options) {
      for await (const deliveries of transport.deliveries(options)) {
        most = Math.max(most, transport.unsettled().length)
        yield deliveries
      }
    },
  }
  const { app, handle } = openApp({ transport, wrapped: watched, batch: { max: 5, budgetMs: 60_000 } })
  app.on('note.created', 'tag-note', () => {})
  await handle(...Array.from({ length: 200 }, (_, index) => note(`m${index}`)))
  expect(transport.settled()).toHaveLength(200)
  // One connection, so one lane.
  expect(most).toBe(10)
})

test('no more is in hand than inFlight.bytes says, once it is known how large the messages are, and one at least', async () => {
  for (const [bytes, expected] of [
    [10_000, 10],
    [10, 1],
  ] as const) {
    const transport = memoryTransport()
    const unsettled: number[] = []
    const watched: Transport = {
      ...transport,
      async *deliveries(options) {
        for await (const deliveries of transport.deliveries(options)) {
          unsettled.push(transport.unsettled().length)
          yield deliveries
        }
      },
    }
    const inFlight = { messages: 400, bytes }
    const { app, handle } = openApp({ transport, wrapped: watched, inFlight, batch: { max: 50, budgetMs: 60_000 } })
    app.on('note.created', 'tag-note', () => {})
    const large = (index: number) => note(`m${index}`, { body: 'x'.repeat(998) })
    await handle(...Array.from({ length: 100 }, (_, index) => large(index)))
    await handle(...Array.from({ length: 200 }, (_, index) => large(index + 100)))
    expect(transport.settled()).toHaveLength(300)
    // The average of the first ones is that of nothing and of them.
    expect(Math.max(...unsettled.slice(-20))).toBe(expected)
  }
})

test('several lanes work at the same time, and a key stays in order', async () => {
  const clock = fakeClock()
  // Effects apart, a memory store has one connection: here several are pretended, and handlers do nothing with them.
  const store = {
    ...memoryStore({ database: new MemoryDatabase({ clock }) }),
    capabilities: { revocable: true, connections: 9 },
  }
  const { app, handle, transport } = openApp({
    store,
    clock,
    concurrency: 4,
    transport: memoryTransport({ order: 'none' }),
  })
  const order = new Map<string, number[]>()
  app.on('note.created', 'tag-note', ({ key = '', body }) => {
    order.set(key, [...(order.get(key) ?? []), body as number])
  })
  await handle(...Array.from({ length: 120 }, (_, index) => note(`m${index}`, { key: `k${index % 7}`, body: index })))
  expect(transport.settled()).toHaveLength(120)
  for (const seen of order.values()) expect(seen).toEqual(seen.toSorted((a, b) => a - b))
})
