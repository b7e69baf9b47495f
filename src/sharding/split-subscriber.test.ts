import { expect, test } from 'vitest'
import type { Delivery, Subscriber } from '../contracts/index.ts'
import { SplitSubscriber } from './split-subscriber.ts'

/** A source that a test feeds by hand. */
function openSource() {
  const fed: (readonly Delivery[] | Error)[] = []
  const settled: { id: string | undefined; kind: string }[] = []
  let wake = Promise.withResolvers<void>()
  let closed = 0
  const source: Subscriber = {
    name: 'by hand',
    capabilities: { order: 'none', deliveryCount: 'none' },
    async *deliveries({ signal, connected }) {
      connected?.()
      signal.addEventListener('abort', () => wake.resolve())
      while (!signal.aborted) {
        const next = fed.shift()
        if (next instanceof Error) throw next
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
  return { source, settled, feed, closed: () => closed }
}

const delivery = (id: string): Delivery => ({
  message: { id, type: 't', body: new Uint8Array(), headers: {} } as never,
})
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
