import { expect, onTestFinished, test } from 'vitest'
import { note } from '../../test/app/open-app.ts'
import { type OpenEngineOptions, openEngine } from '../../test/app/open-engine.ts'
import type { Delivery, Transport } from '../contracts/index.ts'
import type { Feed } from '../engine/feed.ts'
import { JustonceError } from '../errors/index.ts'
import { stillStands } from '../facts/index.ts'
import { StoreGate } from '../loops/store-gate.ts'
import type { MemoryDatabase } from '../stores/memory/index.ts'
import { toIncoming } from '../transports/memory/message-to-send.ts'
import { Consumer } from './consumer.ts'
import type { InFlightLimits } from './in-hand.ts'
import { Quarantine } from './quarantine.ts'

/** A consumer that is given what is handed over, on a store that is too busy for the first so many transactions. */
function openConsumer(
  busyFor = 0,
  options: OpenEngineOptions = {},
  changes: Partial<Feed> = {},
  limits: Partial<InFlightLimits> = {},
) {
  const opened = openEngine(options)
  const { engine, feed, clock, store, on } = opened
  const ran: string[] = []
  const breaker = { after: 1, pauseMs: 1_000 }
  on('note.created', { name: 'tag-note', ordered: { by: 'key' }, breaker }, ({ id }) => {
    if (id === 'broken') throw new Error('on purpose')
    ran.push(id)
  })
  on('note.slow', 'take-time', () => clock.advance(500))
  const arrivals: Delivery[][] = []
  const settled: string[] = []
  let arrived = (): void => {}
  let left = busyFor
  const transaction: typeof store.transaction = async (work, options) => {
    if (left-- > 0) throw new JustonceError('STORE_BUSY', { message: 'Others are writing.' })
    return store.transaction(work, options)
  }
  Object.assign(engine, { store: { ...store, transaction } })
  const transport: Transport = {
    name: 'test',
    destination: 'nowhere',
    capabilities: { order: 'key', deliveryCount: 'flag' },
    async *deliveries({ signal }) {
      signal.addEventListener('abort', () => arrived())
      while (!signal.aborted) {
        const deliveries = arrivals.shift()
        if (deliveries !== undefined) yield deliveries
        else
          await new Promise<void>((resolve) => {
            arrived = resolve
          })
      }
    },
    async settle(deliveries, { kind }) {
      settled.push(...deliveries.map(({ message }) => `${kind} ${message.id}`))
    },
    publish: async (messages) => messages.map(() => ({ kind: 'sent' })),
    close: async () => {},
  }
  const shared = { gate: new StoreGate(engine.store, clock, engine.events), quarantine: new Quarantine(engine) }
  const inFlight = { messages: 200, bytes: 1_000_000, ageMs: Number.POSITIVE_INFINITY, ...limits }
  const settings = { concurrency: 1, batch: { max: 100, budgetMs: 100 }, heldDelayMs: 1_000, inFlight }
  const consumer = new Consumer(engine, transport, { ...feed, ...changes }, shared, settings)
  onTestFinished(() => consumer.stop())
  consumer.start()
  const arrive = async (...deliveries: Delivery[]): Promise<void> => {
    arrivals.push(deliveries)
    arrived()
    await clock.advance(0)
  }
  return { ...opened, ran, arrive, settled: () => settled }
}

function delivery(id: string, key: string | undefined, { type = 'note.created', redelivered = false } = {}): Delivery {
  return { message: toIncoming({ ...note(id, { type }), key }, 'test'), redelivered }
}

test('what follows a suspect in its key does not overtake it when it has to wait', async () => {
  // Together and then alone: the suspect is held, and what comes after it in the batch finds the store free.
  const { ran, clock, arrive } = openConsumer(2)
  await arrive(delivery('a1', 'a', { redelivered: true }), delivery('a2', 'a'), delivery('b1', 'b'))
  expect(ran).toEqual(['b1'])
  await clock.advance(1_000)
  expect(ran).toEqual(['b1', 'a1', 'a2'])
})

test('what a breaker has stopped does not overtake one of its key that was let through and not begun', async () => {
  const { ran, clock, arrive, eventsOf } = openConsumer()
  await arrive(delivery('broken', 'x'))
  expect(eventsOf('breaker-opened')).toHaveLength(1)
  await clock.advance(1_000)
  // The first of the key is the trial, but the time of its batch is up before it begins.
  await arrive(delivery('s1', '0', { type: 'note.slow' }), delivery('a1', 'a'), delivery('a2', 'a'))
  await clock.advance(10_000)
  expect(ran).toEqual(['a1', 'a2'])
})

const suspected = { redelivered: true }

/** What is held against messages. */
const standing = (database: MemoryDatabase) =>
  database.facts.committedEntries().filter(([, fact]) => stillStands(fact, database.now()))

test('nothing is held against what has ended without a handler: types that are ignored, copies, refused ones', async () => {
  const { arrive, database, eventsOf } = openConsumer(0, { unknownTypes: 'ignore' })
  await arrive(delivery('m1', 'a', suspected), delivery('m2', 'b'))
  await arrive(delivery('m1', 'a', suspected), delivery('m2', 'b', suspected))
  await arrive(delivery('x1', 'a', { ...suspected, type: 'unknown' }))
  const { message } = delivery('bad', 'a')
  await arrive({ message: { ...message, body: Buffer.from('no JSON') }, ...suspected })
  expect(eventsOf('duplicate').map(({ key }) => key)).toEqual(['m1', 'm2'])
  expect(eventsOf('ignored')).toHaveLength(1)
  expect(eventsOf('parked')).toMatchObject([{ reason: 'BODY_NOT_JSON' }])
  expect(standing(database)).toEqual([])
})

test('a comparison that is lost is no attempt: what is read again is not suspected because of it', async () => {
  const at = (next: number) => ({ next: String(next), incarnation: 'one' })
  const reread: (string | undefined)[] = []
  const positions = {
    group: 'group',
    dedup: 'position' as const,
    reread: async (lost: readonly Delivery[]) => void reread.push(...lost.map(({ message }) => message.id)),
  }
  const { arrive, database, store, ran, eventsOf } = openConsumer(0, {}, { positions })
  const placed = (id: string, from: number): Delivery => ({
    ...delivery(id, 'a', suspected),
    lane: '0',
    place: { partition: '0', from: at(from), to: at(from + 1) },
  })
  await store.transaction((tx) =>
    store.positions.move(tx, 'group', [{ source: 'test', partition: '0', expected: undefined, to: at(1) }]),
  )
  // Read before somebody else has moved on; twice, as a reading that was frozen and another one.
  for (const _ of [1, 2]) await arrive(placed('m0', 0), placed('m1', 1), placed('m2', 2))
  expect(reread).toEqual(['m0', 'm1', 'm2', 'm0', 'm1', 'm2'])
  expect(standing(database)).toEqual([])
  await arrive(placed('m1', 1), placed('m2', 2))
  expect(ran).toEqual(['m1', 'm2'])
  expect(eventsOf('quarantined')).toEqual([])
})

test('what waits when its connection is lost is let go, and is not handled twice when it comes again', async () => {
  const { ran, clock, arrive, eventsOf, database } = openConsumer()
  await arrive(delivery('broken', 'x'))
  const connection = new AbortController()
  const through = (each: Delivery): Delivery => ({ ...each, ended: connection.signal })
  // Held back by the breaker; suspects, so that something is held against them.
  await arrive(through(delivery('a1', undefined, suspected)), through(delivery('a2', undefined, suspected)))
  connection.abort()
  await clock.advance(0)
  expect(standing(database)).toEqual([])
  await arrive(delivery('a1', undefined, suspected), delivery('a2', undefined, suspected))
  await clock.advance(10_000)
  expect(ran).toEqual(['a1', 'a2'])
  expect(eventsOf('duplicate')).toEqual([])
})

test('what has waited for too long goes back to the broker', async () => {
  const { ran, clock, arrive, settled, on } = openConsumer(0, {}, {}, { ageMs: 400 })
  on('note.slower', 'take-more-time', () => clock.sleep(5_000))
  await arrive(delivery('slow', 'x', { type: 'note.slower' }))
  await arrive(delivery('a1', undefined), delivery('a2', undefined))
  await clock.advance(300)
  expect(settled()).toEqual([])
  await clock.advance(300)
  expect(settled()).toEqual(['release a1', 'release a2'])
  await clock.advance(10_000)
  expect(ran).toEqual([])
})

test('while the store is away nothing goes back, however long it has waited: brokers drop what comes back too often', async () => {
  const { ran, clock, arrive, settled, engine, store, eventsOf } = openConsumer(0, {}, {}, { ageMs: 400 })
  const away = async (): Promise<never> => {
    throw new JustonceError('STORE_CLOSED', { message: 'Nobody answers.' })
  }
  Object.assign(engine.store, { transaction: away, ping: away })
  await arrive(delivery('a1', 'a'), delivery('a2', 'a'))
  await clock.advance(60_000)
  expect(eventsOf('store-down')).toHaveLength(1)
  expect(settled()).toEqual([])
  Object.assign(engine.store, { transaction: store.transaction, ping: store.ping })
  await clock.advance(10_000)
  expect(ran).toEqual(['a1', 'a2'])
  expect(settled()).toEqual([])
})
