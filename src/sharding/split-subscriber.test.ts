import { expect, test } from 'vitest'
import type { Appetite, Delivery, Subscriber } from '../contracts/index.ts'
import { memoryTransport } from '../transports/memory/index.ts'
import { SplitSubscriber } from './split-subscriber.ts'

/** A source that a test feeds by hand. */
function openSource() {
  const fed: (readonly Delivery[] | Error)[] = []
  const settled: { id: string | undefined; kind: string }[] = []
  let wake = Promise.withResolvers<void>()
  let closed = 0
  let wanted: Appetite | undefined
  const source: Subscriber = {
    name: 'by hand',
    capabilities: { order: 'none', deliveryCount: 'none' },
    async *deliveries({ signal, connected, appetite }) {
      wanted = appetite
      connected?.()
      signal.addEventListener('abort', () => wake.resolve())
      while (!signal.aborted) {
        const next = fed.shift()
        if (next instanceof Error) throw next
        if (next?.length === 0) return
        if (next !== undefined) yield next
        else await wake.promise
        wake = Promise.withResolvers()
      }
    },
    async settle(deliveries, { kind }) {
      settled.push(...deliveries.map(({ message }) => ({ id: message.id, kind })))
    },
    async close() {
      closed++
    },
  }
  const feed = (...next: (readonly Delivery[] | Error)[]): void => {
    fed.push(...next)
    wake.resolve()
  }
  return { source, settled, feed, closed: () => closed, wanted: () => wanted?.now() }
}

const delivery = (id: string, bytes = 0, ended?: AbortSignal): Delivery => ({
  message: { id, type: 't', body: new Uint8Array(bytes), headers: {} } as never,
  ended,
})
const idsOf = (deliveries: readonly Delivery[]) => deliveries.map(({ message }) => message.id)
const shardOf = ({ id }: { readonly id?: string | undefined }) => String(id).slice(0, 1)
const split = (source: Subscriber) =>
  new SplitSubscriber(source, { shards: ['a', 'b'], shardOf, unknown: 'a', holdMost: 10 })
const reading = (end: AbortController, maxInFlight = 100) => ({ signal: end.signal, maxInFlight })

test('a branch has no more unsettled than it asked for', async () => {
  const { source, feed } = openSource()
  const end = new AbortController()
  const a = split(source).of('a')
  feed([delivery('a1'), delivery('a2'), delivery('a3')])
  const deliveries = a.deliveries(reading(end, 2))[Symbol.asyncIterator]()
  const first = (await deliveries.next()).value as readonly Delivery[]
  expect(first.map(({ message }) => message.id)).toEqual(['a1', 'a2'])
  const next = deliveries.next()
  await a.settle(first.slice(0, 1), { kind: 'done' })
  expect(((await next).value as readonly Delivery[]).map(({ message }) => message.id)).toEqual(['a3'])
  end.abort()
  await deliveries.next()
})

test('what waits for a shard that took nothing goes back to the broker at the end, and the source is closed once', async () => {
  const { source, settled, feed, closed } = openSource()
  const end = new AbortController()
  const both = split(source)
  const [a, b] = [both.of('a'), both.of('b')]
  feed([delivery('b1'), delivery('a1')])
  const deliveries = a.deliveries(reading(end))[Symbol.asyncIterator]()
  await deliveries.next()
  end.abort()
  await deliveries.next()
  expect(settled).toEqual([{ id: 'b1', kind: 'release' }])
  await a.close()
  await a.close()
  expect(closed()).toBe(0)
  await b.close()
  expect(closed()).toBe(1)
})

test('a source that fails fails in every branch, and is read again by the first that comes back', async () => {
  const { source, feed } = openSource()
  const end = new AbortController()
  const both = split(source)
  const readers = ['a', 'b'].map((shard) => both.of(shard).deliveries(reading(end))[Symbol.asyncIterator]().next())
  const failed = Promise.allSettled(readers)
  feed(new Error('connection lost'))
  expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  feed([delivery('b1')])
  const again = both.of('b').deliveries(reading(end))[Symbol.asyncIterator]()
  expect(((await again.next()).value as readonly Delivery[]).map(({ message }) => message.id)).toEqual(['b1'])
  end.abort()
  await again.next()
})

test('a source that ends by itself ends in every branch, and is read again by those that come back', async () => {
  const { source, feed } = openSource()
  const end = new AbortController()
  const both = split(source)
  const first = ['a', 'b'].map((shard) => both.of(shard).deliveries(reading(end))[Symbol.asyncIterator]().next())
  feed([])
  expect((await Promise.all(first)).map(({ done }) => done)).toEqual([true, true])
  const again = both.of('a').deliveries(reading(end))[Symbol.asyncIterator]()
  feed([delivery('a1')])
  expect(idsOf((await again.next()).value)).toEqual(['a1'])
  end.abort()
  await again.next()
})

test('what waits for a shard that takes nothing does not pile up when its connection is lost again and again', async () => {
  const { source, feed, wanted } = openSource()
  const end = new AbortController()
  const both = split(source)
  // Its consumer takes one, and waits for its store with that.
  const down = both.of('b').deliveries(reading(end, 1))[Symbol.asyncIterator]()
  feed([delivery('b0')])
  await down.next()
  for (let life = 0; life < 3; life++) {
    const connection = new AbortController()
    const deliveries = both.of('a').deliveries(reading(end, 5))[Symbol.asyncIterator]()
    const some = [delivery('b1', 0, connection.signal), delivery('b2', 0, connection.signal), delivery(`a${life}`)]
    feed(some)
    expect(idsOf((await deliveries.next()).value)).toEqual([`a${life}`])
    await both.of('a').settle(some.slice(2), { kind: 'done' })
    expect(wanted()).toBe(1 + 5 + 2)
    connection.abort()
    const lost = deliveries.next().catch((error: Error) => error.message)
    feed(new Error('connection lost'))
    expect(await lost).toBe('connection lost')
  }
})

test('no more bytes wait for a shard that takes nothing than all shards may have in hand', async () => {
  const { source, feed, wanted } = openSource()
  const end = new AbortController()
  const a = split(source).of('a')
  const deliveries = a.deliveries({ ...reading(end, 4), maxBytes: 1_000 })[Symbol.asyncIterator]()
  feed([delivery('a1'), ...Array.from({ length: 4 }, (_, index) => delivery(`b${index}`, 500))])
  await deliveries.next()
  expect(wanted()).toBe(4 + 4)
  const next = deliveries.next()
  feed([delivery('a2'), ...Array.from({ length: 4 }, (_, index) => delivery(`b${index + 4}`, 500))])
  await next
  // Eight wait, and the room of four of them is not given back.
  expect(wanted()).toBe(4 + 4)
  end.abort()
  await deliveries.next()
})

test.each(['key', 'lane'] as const)(
  'with order by %s, what a shard gives back is not overtaken by what waits behind it',
  async (order) => {
    const broker = memoryTransport({ order })
    const end = new AbortController()
    const both = split(broker)
    const a = both.of('a')
    // It wants so many that those of the other are read ahead.
    const other = both.of('b').deliveries(reading(end))[Symbol.asyncIterator]().next()
    const chain = [1, 2, 3, 4, 5].map((index) => ({ id: `a${index}`, type: 't', body: {}, key: 'k' }))
    broker.send(chain)
    const deliveries = a.deliveries(reading(end, 3))[Symbol.asyncIterator]()
    const taken = (await deliveries.next()).value as readonly Delivery[]
    expect(idsOf(taken)).toEqual(['a1', 'a2', 'a3'])
    await a.settle(taken.slice(1), { kind: 'release' })
    await a.settle(taken.slice(0, 1), { kind: 'done' })
    expect(idsOf((await deliveries.next()).value).slice(0, 2)).toEqual(['a2', 'a3'])
    end.abort()
    await Promise.all([deliveries.next(), other])
  },
)

test.each([
  ['a bigint', () => 5n],
  ['a symbol', () => Symbol('us')],
  ['a promise that rejects', () => Promise.reject(new Error('later'))],
  ['a text that is longer than a letter may be', () => 'x'.repeat(1_000_000)],
  [
    'nothing, because it throws what cannot be converted to text',
    () => {
      throw Object.create(null)
    },
  ],
])('shardOf() may answer %s: the message is given up, and those behind it go on', async (_, answer) => {
  const { source, feed } = openSource()
  const end = new AbortController()
  const shardOf = (message: { readonly id?: string | undefined }) => (message.id === 'x' ? answer() : 'a') as string
  const a = new SplitSubscriber(source, { shards: ['a', 'b'], shardOf, unknown: 'a', holdMost: 10 }).of('a')
  const deliveries = a.deliveries(reading(end))[Symbol.asyncIterator]()
  feed([delivery('x'), delivery('a1')])
  const taken = (await deliveries.next()).value as readonly Delivery[]
  expect(taken.map(({ message, givenUp }) => [message.id, givenUp === undefined])).toEqual([
    ['x', false],
    ['a1', true],
  ])
  expect(taken[0]?.givenUp).toMatchObject({ code: 'SHARD_UNKNOWN' })
  expect(String(taken[0]?.givenUp).length).toBeLessThan(1_000)
  end.abort()
  await deliveries.next()
})

test('the apps of all shards ask the broker one question at a time', async () => {
  let [asked, running, most] = [0, 0, 0]
  const inspect = async () => {
    asked++
    most = Math.max(most, ++running)
    await new Promise(setImmediate)
    running--
    return { waiting: asked, warnings: [] }
  }
  const both = split({ ...openSource().source, inspect, redeliversForMs: async () => ++asked })
  const [a, b] = [both.of('a'), both.of('b')]
  expect(await Promise.all([a.inspect?.(), b.inspect?.()])).toEqual(Array(2).fill({ waiting: 1, warnings: [] }))
  expect(await a.inspect?.()).toMatchObject({ waiting: 2 })
  expect(most).toBe(1)
  expect(await Promise.all([a.redeliversForMs?.(), b.redeliversForMs?.()])).toEqual([3, 3])
})
