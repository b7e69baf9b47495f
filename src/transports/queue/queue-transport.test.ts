import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Delivery, OutgoingMessage, Queue } from '../../contracts/index.ts'
import { toQueue } from '../../encoding/packed-message.ts'
import { isJustonceError } from '../../errors/index.ts'
import { memoryStore } from '../../stores/memory/index.ts'
import { type SqliteStore, sqliteStore } from '../../stores/sqlite/index.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { type QueueTransportOptions, queueTransport } from './queue-transport.ts'

type Database = Parameters<Parameters<SqliteStore<import('node:sqlite').DatabaseSync>['transaction']>[0]>[0]

let store: SqliteStore<Database>

beforeEach(async () => {
  store = sqliteStore({ path: ':memory:' })
  await store.schema.install()
})
afterEach(() => store.close())

/** The real store with some calls of its queue watched or replaced. */
function storeWith(queue: Partial<Queue<Database>>): QueueTransportOptions<Database>['store'] {
  return { ...store, queue: { ...store.queue, ...queue } }
}

/** Without the store's own wake-ups: only the transport's are left. */
const deaf = { listen: undefined, announce: undefined } as const

function message(id: string, key?: string): OutgoingMessage {
  return { id, key, type: 'note.created', body: Uint8Array.of(1), headers: {}, sentAt: new Date(0) }
}

function read(transport: ReturnType<typeof queueTransport>, maxInFlight = 10) {
  const stopping = new AbortController()
  const iterator = transport.deliveries({ signal: stopping.signal, maxInFlight })[Symbol.asyncIterator]()
  return {
    async next(): Promise<readonly Delivery[]> {
      const result = await iterator.next()
      return result.done ? [] : result.value
    },
    stop: () => stopping.abort(),
  }
}

const idsOf = (deliveries: readonly Delivery[]) => deliveries.map(({ message }) => message.id)

describe('waking', () => {
  test('a waiting reader is woken by what this process publishes, without a poll', async () => {
    const options = { store: storeWith(deaf), clock: fakeClock() }
    const [publisher, reader] = [queueTransport(options), queueTransport(options)]
    const arrival = read(reader).next()
    await publisher.publish([message('m1')])
    expect(idsOf(await arrival)).toEqual(['m1'])
  })

  test('a waiting reader is woken by a commit that published', async () => {
    const options = { store: storeWith(deaf), clock: fakeClock() }
    const { queue } = queueTransport(options)
    const arrival = read(queueTransport(options)).next()
    await options.store.transaction((tx) => options.store.queue.send(tx, queue.name, [toQueue(message('m1'))]))
    queue.sent()
    expect(idsOf(await arrival)).toEqual(['m1'])
  })

  test('a waiting reader is woken by what another one releases', async () => {
    const options = { store: storeWith(deaf), clock: fakeClock() }
    const [one, other] = [queueTransport(options), queueTransport(options)]
    await one.publish([message('m1')])
    const held = await read(one).next()
    const arrival = read(other).next()
    await one.settle(held, { kind: 'release' })
    expect((await arrival)[0]?.count).toBe(1)
  })

  test('without any wake-up it is found by the next poll', async () => {
    const clock = fakeClock()
    const arrival = read(queueTransport({ store: storeWith(deaf), clock, pollMs: 500 })).next()
    await queueTransport({ store: storeWith(deaf), clock }).publish([message('m1')])
    await clock.advance(500)
    expect(idsOf(await arrival)).toEqual(['m1'])
  })

  test.each([
    ['polls more rarely the longer it is idle', async () => async () => {}, 3],
    ['polls as often as before while it cannot listen', async () => Promise.reject(new Error('no')), 10],
  ] as const)('a reader that can be notified %s', async (_, listen, expected) => {
    const clock = fakeClock()
    let takes = 0
    const take: Queue<Database>['take'] = async (...call) => {
      takes++
      return await store.queue.take(...call)
    }
    const reader = read(queueTransport({ store: storeWith({ take, listen }), clock, pollMs: 100 }))
    const arrival = reader.next()
    await clock.advance(0)
    takes = 0
    for (let ms = 0; ms < 1_000; ms += 100) await clock.advance(100)
    expect(takes).toBe(expected)
    reader.stop()
    await arrival
  })

  test('other processes are notified at most every 50 ms, and of the last one too', async () => {
    const clock = fakeClock()
    const announce = vi.fn(async () => {})
    const transport = queueTransport({ store: storeWith({ announce }), clock, queue: 'notes' })
    for (const id of ['m1', 'm2', 'm3']) await transport.publish([message(id)])
    expect(announce.mock.calls).toEqual([['notes']])
    await clock.advance(50)
    expect(announce).toHaveBeenCalledTimes(2)
    await clock.advance(50)
    expect(announce).toHaveBeenCalledTimes(2)
    for (const id of ['m4', 'm5']) await transport.publish([message(id)])
    await transport.close()
    expect(announce).toHaveBeenCalledTimes(4)
  })

  test('what was sent just before the listening began is found without a poll', async () => {
    const listening = Promise.withResolvers<() => Promise<void>>()
    const looked = Promise.withResolvers<void>()
    const take: Queue<Database>['take'] = async (...call) => {
      const taken = await store.queue.take(...call)
      looked.resolve()
      return taken
    }
    const deafAtFirst = storeWith({ take, listen: () => listening.promise })
    const arrival = read(queueTransport({ store: deafAtFirst, queue: 'notes', clock: fakeClock() })).next()
    await looked.promise
    await queueTransport({ store: storeWith(deaf), queue: 'notes' }).publish([message('m1')])
    listening.resolve(async () => {})
    expect(idsOf(await arrival)).toEqual(['m1'])
  })

  test('listening ends when the loop is left without an abort', async () => {
    const stop = vi.fn(async () => {})
    const transport = queueTransport({ store: storeWith({ listen: async () => stop }), clock: fakeClock() })
    await transport.publish([message('m1')])
    const signal = new AbortController().signal
    for await (const deliveries of transport.deliveries({ signal, maxInFlight: 1 })) {
      expect(idsOf(deliveries)).toEqual(['m1'])
      break
    }
    expect(stop).toHaveBeenCalledOnce()
  })

  test('listening that fails is reported and tried again, and ends with the iteration', async () => {
    const clock = fakeClock()
    const onError = vi.fn()
    const stop = vi.fn(async () => {})
    const listen = vi.fn(async () => stop)
    listen.mockRejectedValueOnce(new Error('no connection left'))
    const reading = read(queueTransport({ store: storeWith({ listen }), clock, onError }))
    const end = reading.next()
    await clock.advance(5_000)
    expect(onError.mock.calls).toEqual([[new Error('no connection left')]])
    expect(listen).toHaveBeenCalledTimes(2)
    reading.stop()
    expect(await end).toEqual([])
    expect(stop).toHaveBeenCalledOnce()
  })
})

describe('keys', () => {
  test('the key is sent along', async () => {
    const send = vi.fn(store.queue.send)
    const transport = queueTransport({ store: storeWith({ send }), clock: fakeClock() })
    await transport.publish([message('a1', 'a'), message('m1')])
    const sent = send.mock.calls.map(([, , messages]) => messages.map(({ key }) => key))
    expect(sent).toEqual([['a', undefined]])
  })

  test('what waits behind a message of its key is found without a poll when that is settled', async () => {
    const options = { store: storeWith(deaf), clock: fakeClock() }
    const transport = queueTransport(options)
    await transport.publish([message('a1', 'a')])
    const reading = read(transport)
    const a1 = await reading.next()
    await transport.publish([message('a2', 'a')])
    const a2 = reading.next()
    await new Promise((resolve) => setImmediate(resolve))
    await transport.settle(a1, { kind: 'done' })
    expect(idsOf(await a2)).toEqual(['a2'])
    await transport.publish([message('a3', 'a')])
    const a3 = reading.next()
    await store.transaction(async (tx) => transport.inside.settle(tx, await a2, await a2))
    transport.inside.forget(await a2)
    expect(idsOf(await a3)).toEqual(['a3'])
  })
})

describe('hiding', () => {
  test('unsettled deliveries are hidden anew every third of the time, settled ones no more', async () => {
    const clock = fakeClock()
    const hide = vi.fn(store.queue.hide)
    const transport = queueTransport({ store: storeWith({ hide }), clock, queue: 'notes', visibilityMs: 30_000 })
    await transport.publish([message('m1'), message('m2')])
    const [first, second] = await read(transport).next()
    await clock.advance(9_999)
    expect(hide).not.toHaveBeenCalled()
    await clock.advance(1)
    expect(hide.mock.lastCall?.[1]).toHaveLength(2)
    expect(hide.mock.lastCall?.[2]).toBe(30_000)
    await transport.settle([first as Delivery], { kind: 'done' })
    await clock.advance(10_000)
    expect(hide.mock.lastCall?.[1]).toHaveLength(1)
    await store.transaction((tx) => transport.inside.settle(tx, [second as Delivery], [second as Delivery]))
    transport.inside.forget([second as Delivery])
    await clock.advance(100_000)
    expect(hide).toHaveBeenCalledTimes(2)
    expect(clock.waiting()).toBe(0)
  })

  test('a living consumer keeps what it holds for as long as it works, a dead one for visibilityMs', async () => {
    const clock = fakeClock()
    const memory = memoryStore({ clock })
    const living = queueTransport({ store: memory, queue: 'notes', clock, visibilityMs: 30_000 })
    const dead = queueTransport({ store: memory, queue: 'notes', clock: fakeClock(), visibilityMs: 30_000 })
    await living.publish([message('m1'), message('m2')])
    const [held] = await read(living, 1).next()
    await read(dead, 1).next()
    await clock.advance(29_999)
    expect(await memory.queue.count('notes')).toMatchObject({ ready: 0, hidden: 2 })
    await clock.advance(3_600_000)
    expect(await memory.queue.count('notes')).toMatchObject({ ready: 1, hidden: 1 })
    await living.settle([held as Delivery], { kind: 'done' })
    expect(await memory.queue.count('notes')).toMatchObject({ ready: 1, hidden: 0 })
  })

  test('a living consumer with a long visibilityMs keeps what it holds beside one with a short one', async () => {
    const clock = fakeClock()
    const memory = memoryStore({ clock })
    const patient = queueTransport({ store: memory, queue: 'notes', clock, visibilityMs: 4 * 3_600_000 })
    const hasty = queueTransport({ store: memory, queue: 'notes', clock, visibilityMs: 1_000, pollMs: 60_000 })
    await patient.publish([message('m1')])
    const [held] = await read(patient).next()
    const stolen = vi.fn()
    const rival = read(hasty)
    void rival.next().then(stolen)
    for (let minute = 0; minute < 300; minute++) await clock.advance(60_000)
    expect(stolen).not.toHaveBeenCalled()
    await patient.settle([held as Delivery], { kind: 'done' })
    rival.stop()
  })

  test('a renewal that fails is reported and tried again', async () => {
    const clock = fakeClock()
    const onError = vi.fn()
    const hide = vi.fn(store.queue.hide).mockRejectedValueOnce(new Error('store is down'))
    const transport = queueTransport({ store: storeWith({ hide }), clock, visibilityMs: 30_000, onError })
    await transport.publish([message('m1')])
    await read(transport).next()
    await clock.advance(20_000)
    expect(onError.mock.calls).toEqual([[new Error('store is down')]])
    expect(hide).toHaveBeenCalledTimes(2)
  })

  test('what is given back stays visible even when a renewal is under way', async () => {
    const clock = fakeClock()
    const renewal = Promise.withResolvers<void>()
    const hide = vi.fn(store.queue.hide).mockImplementationOnce(async (...call) => {
      await renewal.promise
      await store.queue.hide(...call)
    })
    const transport = queueTransport({ store: storeWith({ hide }), clock, queue: 'notes', visibilityMs: 30_000 })
    await transport.publish([message('m1')])
    const held = await read(transport).next()
    await clock.advance(10_000)
    const released = transport.settle(held, { kind: 'release' })
    renewal.resolve()
    await released
    expect(await store.queue.count('notes')).toMatchObject({ ready: 1, hidden: 0 })
  })

  test('what is being given back is not hidden anew meanwhile', async () => {
    const clock = fakeClock()
    const giving = Promise.withResolvers<void>()
    const hide = vi.fn(store.queue.hide).mockReturnValueOnce(giving.promise)
    const transport = queueTransport({ store: storeWith({ hide }), clock, visibilityMs: 30_000 })
    await transport.publish([message('m1')])
    const released = transport.settle(await read(transport).next(), { kind: 'release' })
    await clock.advance(10_000)
    expect(hide).toHaveBeenCalledOnce()
    expect(hide.mock.calls[0]?.slice(2)).toEqual([0, { untaken: true }])
    giving.resolve()
    await released
  })

  test('what could not be settled is hidden no more, so that it comes again', async () => {
    const clock = fakeClock()
    const hide = vi.fn(store.queue.hide)
    const remove = vi.fn(store.queue.remove).mockRejectedValueOnce(new Error('store is down'))
    const transport = queueTransport({ store: storeWith({ hide, remove }), clock })
    await transport.publish([message('m1')])
    const held = await read(transport, 1).next()
    await expect(transport.settle(held, { kind: 'done' })).rejects.toThrow('store is down')
    await clock.advance(100_000)
    expect(hide).not.toHaveBeenCalled()
  })
})

describe('ending', () => {
  /** A take that has its messages and does not answer yet. */
  function slowTake() {
    const [taken, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const take: Queue<Database>['take'] = async (...call) => {
      const messages = await store.queue.take(...call)
      taken.resolve()
      await answer.promise
      return messages
    }
    return { take, taken: taken.promise, answer: answer.resolve }
  }

  test('what a take brings after the abort is given back before the iteration ends', async () => {
    const { take, taken, answer } = slowTake()
    const transport = queueTransport({ store: storeWith({ take }), queue: 'notes', clock: fakeClock() })
    await transport.publish([message('m1'), message('m2')])
    const reading = read(transport)
    const end = reading.next()
    await taken
    reading.stop()
    answer()
    expect(await end).toEqual([])
    expect(await store.queue.count('notes')).toMatchObject({ ready: 2, hidden: 0 })
  })

  test('close waits for the take that is under way and gives back what it brings', async () => {
    const { take, taken, answer } = slowTake()
    const transport = queueTransport({ store: storeWith({ take }), queue: 'notes', clock: fakeClock() })
    await transport.publish([message('m1')])
    const end = read(transport).next()
    await taken
    const afterClose = transport.close().then(() => store.queue.count('notes'))
    await new Promise((resolve) => setImmediate(resolve))
    answer()
    expect(await afterClose).toMatchObject({ ready: 1, hidden: 0 })
    expect(await end).toEqual([])
  })

  test('a closed transport can be read again', async () => {
    const transport = queueTransport({ store, clock: fakeClock() })
    await transport.publish([message('m1')])
    await read(transport).next()
    await transport.close()
    expect((await read(transport).next())[0]?.count).toBe(1)
  })
})

describe('trouble', () => {
  test('a store that is down does not end the iteration', async () => {
    const clock = fakeClock()
    const onError = vi.fn(() => {
      throw new Error('the log is full')
    })
    const down = new Error('store is down')
    const take = vi.fn(store.queue.take)
    for (let failure = 0; failure < 10; failure++) take.mockRejectedValueOnce(down)
    const transport = queueTransport({ store: storeWith({ take, ...deaf }), clock, onError })
    await transport.publish([message('m1')])
    const arrival = read(transport).next()
    await clock.advance(100 * 0.75)
    expect(take).toHaveBeenCalledTimes(2)
    await clock.advance(60_000)
    expect(idsOf(await arrival)).toEqual(['m1'])
    expect(onError).toHaveBeenCalledTimes(10)
  })

  test('an abort ends the pause after a failure', async () => {
    const take = vi.fn(store.queue.take).mockRejectedValue(new Error('store is down'))
    const failed = Promise.withResolvers<unknown>()
    const options = { store: storeWith({ take }), clock: fakeClock(), onError: failed.resolve }
    const reading = read(queueTransport(options))
    const end = reading.next()
    await failed.promise
    reading.stop()
    expect(await end).toEqual([])
  })

  test('a message whose envelope cannot be read is delivered without an id', async () => {
    const body = Uint8Array.of(1, 2, 3)
    await store.queue.send(undefined, 'notes', [{ message: { envelope: Uint8Array.of(0xff), body }, key: undefined }])
    const [delivery] = await read(queueTransport({ store, queue: 'notes', clock: fakeClock() })).next()
    expect(delivery?.message).toEqual({ body, headers: {}, source: 'queue:notes' })
  })
})

describe('takes that fail', () => {
  test('are followed by smaller ones, until they succeed again', async () => {
    const asked: (number | undefined)[] = []
    const take: Queue<Database>['take'] = async (name, options) => {
      asked.push(options.maxBytes)
      if (asked.length <= 3) throw new Error('too much for this network')
      return await store.queue.take(name, options)
    }
    const clock = fakeClock()
    const transport = queueTransport({ store: storeWith({ ...deaf, take }), clock })
    for (const id of ['m1', 'm2', 'm3']) await transport.publish([message(id)])
    const stopping = new AbortController()
    const reading = transport
      .deliveries({ signal: stopping.signal, maxInFlight: 1, maxBytes: 4_097 })
      [Symbol.asyncIterator]()
    const next = async () => {
      const { value } = await reading.next()
      await transport.settle(value ?? [], { kind: 'done' })
      return idsOf(value ?? [])
    }
    const first = next()
    while (asked.length < 4) await clock.advance(1_000)
    expect([await first, await next(), await next()]).toEqual([['m1'], ['m2'], ['m3']])
    expect(asked.map((bytes) => Math.floor(bytes ?? 0))).toEqual([4_097, 256, 16, 1, 2, 4])
    stopping.abort()
  })
})

describe('options', () => {
  test.for([
    ['store is sqlite', { store: { ...sqliteStore({ path: ':memory:' }), queue: undefined } }],
    ['queue is ""', { queue: '' }],
    ['queue is "a\\nb"', { queue: 'a\nb' }],
    ['visibilityMs is 0', { visibilityMs: 0 }],
    ['visibilityMs is NaN', { visibilityMs: Number.NaN }],
    ['pollMs is -1', { pollMs: -1 }],
    ['pollMs is Infinity', { pollMs: Number.POSITIVE_INFINITY }],
  ] as const)('%s: refused', ([seen, wrong]) => {
    const create = () => queueTransport({ store, ...wrong } as QueueTransportOptions<Database>)
    expect(create).toThrow(expect.toSatisfy((error: unknown) => isJustonceError(error, 'OPTION_INVALID')))
    expect(create).toThrow(seen)
  })

  test('one that is not known is refused, with the nearest that is', () => {
    const misspelt = { store, visibilityMS: 1_000 } as QueueTransportOptions<Database>
    expect(() => queueTransport(misspelt)).toThrow('Did you mean visibilityMs?')
  })
})
