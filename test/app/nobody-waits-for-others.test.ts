import { expect, test } from 'vitest'
import { MemoryDatabase, memoryStore, memoryTransport } from '../../src/memory.ts'
import { countParked } from '../../src/operations/index.ts'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.ts'
import { note, type OpenAppOptions, openApp } from './open-app.ts'

/**
 * A memory store runs one transaction at a time: here several are pretended, and where handlers are slow each has a
 * database to itself.
 */
function openWorkers({ areApart = false, ...options }: OpenAppOptions & { areApart?: boolean } = {}) {
  const clock = fakeClock()
  const inner = memoryStore({ database: new MemoryDatabase({ clock }) })
  const apart: typeof inner.transaction = (work, given) =>
    memoryStore({ database: new MemoryDatabase({ clock }) }).transaction(work, given)
  const capabilities = { revocable: true, connections: 9 }
  const store = { ...inner, capabilities, ...(areApart && { transaction: apart }) }
  const transport = memoryTransport({ order: 'none' })
  return openApp({ store, clock, concurrency: 4, batch: { max: 20, budgetMs: 100 }, transport, ...options })
}

async function pass(clock: FakeClock, ms: number, stepMs = 50): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) await clock.advance(stepMs)
}

const many = (count: number, prefix: string, type: string, key?: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => note(`${prefix}${index}`, { type, ...(key && { key: key(index) }) }))

/** One of each in turn. */
const mixed = <T>(...lists: readonly (readonly T[])[]): T[] =>
  Array.from({ length: Math.max(...lists.map(({ length }) => length)) }, (_, index) =>
    lists.flatMap((list) => list.slice(index, index + 1)),
  ).flat()

test('as many slow handlers run at a time as there are to be batches', async () => {
  const { app, clock, transport } = openWorkers({ areApart: true })
  let running = 0
  let most = 0
  app.on('note.created', 'tag-note', async () => {
    most = Math.max(most, ++running)
    await clock.sleep(500)
    running--
  })
  transport.send(many(40, 'm', 'note.created'))
  await app.start()
  await pass(clock, 6_000)
  expect(most).toBe(4)
  expect(transport.settled()).toHaveLength(40)
})

test('a burst of quick messages stays together', async () => {
  const { app, handle, eventsOf } = openWorkers({ batch: { max: 50, budgetMs: 100 } })
  app.on('note.created', 'tag-note', () => {})
  await handle(...many(1_000, 'a', 'note.created'))
  const before = eventsOf('batch').length
  await handle(...many(50, 'b', 'note.created'))
  expect(
    eventsOf('batch')
      .slice(before)
      .map(({ messages }) => messages),
  ).toEqual([50])
})

test('a slow message holds up its own key and nothing else', async () => {
  const { app, clock, transport, handle } = openWorkers({ areApart: true })
  const order: string[] = []
  const run = ({ id, key }: { id: string; key?: string | undefined }) => void (key === 'k0' && order.push(id))
  app.on('note.created', 'tag-note', run)
  app.on('note.slow', { name: 'take-time', timeoutMs: 60_000 }, async (message) => {
    await clock.sleep(20_000)
    run(message)
  })
  await handle(note('first'))
  transport.send(note('m', { type: 'note.slow', key: 'k0' }))
  transport.send(many(2_000, 'm', 'note.created', (index) => `k${index % 200}`))
  await pass(clock, 10_000)
  expect(transport.settled().filter(({ key }) => key !== 'k0')).toHaveLength(1_991)
  expect(order).toEqual([])
  await pass(clock, 20_000)
  expect(transport.settled()).toHaveLength(2_002)
  expect(order).toEqual(order.toSorted((a, b) => Number(a.slice(1)) - Number(b.slice(1))))
})

test('a slow message holds up no others of its type, even where batches of that type take turns', async () => {
  const { app, clock, transport } = openWorkers({ areApart: true })
  app.onBatch('note.created', { name: 'count', timeoutMs: 60_000 }, async (messages) => {
    if (messages.some(({ id }) => id.startsWith('slow'))) await clock.sleep(20_000)
  })
  await app.start()
  for (const id of ['slow 1', 'slow 2']) {
    transport.send(note(id))
    await pass(clock, 500)
  }
  transport.send(many(400, 'm', 'note.created'))
  await pass(clock, 5_000)
  expect(transport.settled()).toHaveLength(400)
  await pass(clock, 20_000)
  expect(transport.settled()).toHaveLength(402)
})

test('slow messages hold up no others, even where one batch at a time has been found to be fastest', async () => {
  const { app, clock, transport } = openWorkers({ areApart: true, concurrency: undefined })
  let last = Promise.resolve()
  // More at once would only wait for each other.
  app.on('note.created', 'tag-note', () => (last = last.then(() => clock.sleep(10))))
  app.on('note.slow', { name: 'take-time', timeoutMs: 60_000 }, () => clock.sleep(20_000))
  transport.send(many(3_000, 'm', 'note.created'))
  await app.start()
  await pass(clock, 40_000, 10)
  expect(transport.settled()).toHaveLength(3_000)
  for (const id of ['slow 1', 'slow 2', 'slow 3']) {
    transport.send(note(id, { type: 'note.slow' }))
    await pass(clock, 100)
  }
  transport.send(many(100, 'n', 'note.created'))
  await pass(clock, 10_000, 10)
  expect(transport.settled()).toHaveLength(3_100)
  await pass(clock, 60_000, 500)
  expect(transport.settled()).toHaveLength(3_103)
})

test('what waits behind a slow message does not use up the room of all others, however much it is', async () => {
  const { app, clock, transport, handle } = openWorkers({ areApart: true })
  app.on('note.created', 'tag-note', () => {})
  app.on('note.slow', { name: 'take-time', timeoutMs: 60_000 }, () => clock.sleep(20_000))
  await handle(note('first'))
  transport.send(note('m', { type: 'note.slow', key: 'k0' }))
  transport.send(many(2_000, 'm', 'note.created', (index) => `k${index % 2}`))
  await pass(clock, 10_000)
  expect(transport.settled().filter(({ key }) => key === 'k1')).toHaveLength(1_000)
  await pass(clock, 20_000)
})

const broken = { breaker: { after: 5, pauseMs: 1_000 }, retry: { backoff: () => 3_600_000 } } as const

for (const [name, options] of [
  ['without keys', {}],
  ['with keys', { key: (index: number) => `k${index % 10}` }],
  ['in lanes', { key: (index: number) => `k${index % 4}`, order: 'lane' }],
] as const)
  test(`an open breaker stops its own handler and no other type, ${name}`, async () => {
    const order = 'order' in options ? options.order : 'none'
    const { app, clock, transport } = openWorkers({ transport: memoryTransport({ order }) })
    app.on('note.broken', { name: 'fail', ...broken }, () => {
      throw new Error('a bad deploy')
    })
    const good = new Set<string>()
    app.on('note.created', 'tag-note', ({ id }) => void good.add(id))
    const key = 'key' in options ? options.key : undefined
    transport.send(mixed(many(600, 'bad', 'note.broken', key), many(600, 'good', 'note.created', key)))
    await app.start()
    await pass(clock, 5_000)
    expect(good.size).toBe(600)
  })

test('an open breaker stops one handler of a message, not the others', async () => {
  const { app, store, clock, transport } = openWorkers()
  const repaired = new Set<string>()
  let isBroken = true
  app.on('note.created', { name: 'fail', ...broken }, ({ id }) => {
    if (isBroken) throw new Error('a bad deploy')
    repaired.add(id)
  })
  const healthy = new Set<string>()
  app.on('note.created', { name: 'healthy', independent: true }, ({ id }) => void healthy.add(id))
  transport.send(many(500, 'm', 'note.created'))
  await app.start()
  await pass(clock, 5_000)
  expect(healthy.size).toBe(500)
  const rows = await store.parking.list()
  expect(rows.filter(({ reason }) => reason === 'WAITS_FOR_BREAKER').every(({ attempts }) => attempts === 0)).toBe(true)
  isBroken = false
  await pass(clock, 200_000, 500)
  const tried = rows.filter(({ attempts }) => attempts > 0).length
  expect(repaired.size).toBeGreaterThanOrEqual(500 - tried)
  expect(healthy.size).toBe(500)
})

test('when a breaker closes, what it has held back goes on at once', async () => {
  const { app, clock, transport, eventsOf } = openWorkers()
  let isBroken = true
  app.on('note.created', { name: 'fail', ...broken }, () => {
    if (isBroken) throw new Error('a bad deploy')
  })
  transport.send(many(60, 'm', 'note.created'))
  await app.start()
  await pass(clock, 40_000, 500)
  expect(eventsOf('breaker-opened')).toHaveLength(1)
  isBroken = false
  while (eventsOf('breaker-closed').length === 0) await clock.advance(500)
  await pass(clock, 1_000)
  expect(transport.settled()).toHaveLength(60)
})

test('a source on which everything fails is paused, not parked', async () => {
  const { app, store, clock, transport } = openWorkers()
  app.on('note.created', { name: 'fail', ...broken }, () => {
    throw new Error('a bad deploy')
  })
  transport.send(many(5_000, 'm', 'note.created'))
  await app.start()
  await pass(clock, 20_000, 500)
  expect(await countParked(store)).toBeLessThan(1_000)
  expect(transport.pending().length).toBeGreaterThan(3_000)
})

test('good messages behind a long row of bad ones are found', async () => {
  const { app, clock, transport } = openWorkers()
  app.on('note.broken', { name: 'fail', ...broken }, () => {
    throw new Error('a bad deploy')
  })
  let good = 0
  app.on('note.created', 'tag-note', () => void good++)
  transport.send([...many(240, 'bad', 'note.broken'), ...many(100, 'good', 'note.created')])
  await app.start()
  await pass(clock, 60_000, 500)
  expect(good).toBe(100)
})

test('while handlers are slow, no more is taken than is soon handled: the rest is for other processes', async () => {
  const { app, clock, transport } = openWorkers({ areApart: true, batch: { max: 100, budgetMs: 100 } })
  app.on('note.created', 'tag-note', () => clock.sleep(1_000))
  transport.send(many(700, 'm', 'note.created'))
  await app.start()
  await clock.advance(0)
  expect(transport.unsettled().length).toBeLessThanOrEqual(32)
  await pass(clock, 10_000)
  expect(transport.unsettled().length).toBeLessThanOrEqual(8)
  expect(transport.settled().length).toBeGreaterThan(30)
  transport.send(many(1, 'end', 'note.created'))
  await Promise.all([app.stop(), pass(clock, 2_000)])
})

test('what waits behind a slow message does not keep the appetite from the rest', async () => {
  const { app, clock, transport, handle } = openWorkers({ areApart: true })
  app.on('note.created', 'tag-note', () => {})
  app.on('note.slow', { name: 'take-time', timeoutMs: 60_000 }, () => clock.sleep(20_000))
  await handle(note('first'))
  // So slow that hardly anything is wanted any more, and the next ones are all of one key.
  transport.send(many(3, 's', 'note.slow', () => 'k0'))
  transport.send(many(6, 'a', 'note.created', () => 'k0'))
  transport.send(many(50, 'b', 'note.created'))
  await pass(clock, 15_000)
  expect(transport.settled().filter(({ key }) => key === undefined)).toHaveLength(51)
  await pass(clock, 60_000, 500)
})
