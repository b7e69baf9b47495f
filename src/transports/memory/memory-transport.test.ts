import { expect, test } from 'vitest'
import type { Delivery, Transport } from '../../contracts/index.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { memoryTransport } from './memory-transport.ts'

const ids = (list: readonly { readonly id?: string | undefined }[]) => list.map(({ id }) => id)

/** Reads one batch; fails rather than waits when nothing is there. */
async function readBatch(transport: Transport, maxInFlight = 100): Promise<readonly Delivery[]> {
  const signal = AbortSignal.timeout(5_000)
  for await (const deliveries of transport.deliveries({ signal, maxInFlight })) return deliveries
  throw new Error('nothing was delivered')
}

test('a message moves from pending over unsettled to settled', async () => {
  const transport = memoryTransport()
  transport.send({ id: 'm1', type: 'note.created', body: { noteId: 1 } })
  expect(ids(transport.pending())).toEqual(['m1'])
  const deliveries = await readBatch(transport)
  expect(transport.pending()).toEqual([])
  expect(ids(transport.unsettled())).toEqual(['m1'])
  await transport.settle(deliveries, { kind: 'done' })
  expect(transport.unsettled()).toEqual([])
  expect(ids(transport.settled())).toEqual(['m1'])
})

test('a body is sent as JSON, bytes as they are', async () => {
  const transport = memoryTransport({ name: 'notes' })
  transport.send([
    { id: 'm1', body: { noteId: 1 } },
    { id: 'm2', body: Uint8Array.of(0xff, 0x00) },
    { id: 'm3', source: 'elsewhere' },
  ])
  const [json, bytes, nothing] = (await readBatch(transport)).map(({ message }) => message)
  expect(new TextDecoder().decode(json?.body)).toBe('{"noteId":1}')
  expect(json?.source).toBe('notes')
  expect([...(bytes?.body ?? [])]).toEqual([0xff, 0x00])
  expect(new TextDecoder().decode(nothing?.body)).toBe('null')
  expect(nothing?.source).toBe('elsewhere')
})

test('a duplicate is a message of its own, also of one that is settled already', async () => {
  const transport = memoryTransport()
  transport.send({ id: 'm1', body: { noteId: 1 } })
  await transport.settle(await readBatch(transport), { kind: 'done' })
  transport.duplicate('m1')
  const [again] = await readBatch(transport)
  expect(again?.message.id).toBe('m1')
  expect(again?.count).toBe(1)
  expect(() => transport.duplicate('m2')).toThrow(/no message of this id/)
})

test('idle resolves when the last message is settled, not before', async () => {
  const transport = memoryTransport()
  await transport.idle()
  transport.send([{ id: 'm1' }, { id: 'm2' }])
  let isIdle = false
  const idle = transport.idle().then(() => {
    isIdle = true
  })
  const [first, second] = await readBatch(transport)
  await transport.settle([first as Delivery], { kind: 'done' })
  await new Promise((resolve) => setImmediate(resolve))
  expect(isIdle).toBe(false)
  await transport.settle([second as Delivery], { kind: 'done' })
  await idle
})

test('with visibilityMs an unsettled delivery comes again, and settling the lapsed one changes nothing', async () => {
  const clock = fakeClock()
  const transport = memoryTransport({ clock, visibilityMs: 1_000 })
  transport.send({ id: 'm1' })
  const lapsed = await readBatch(transport)
  await clock.advance(999)
  expect(ids(transport.unsettled())).toEqual(['m1'])
  await clock.advance(1)
  expect(ids(transport.pending())).toEqual(['m1'])
  await transport.settle(lapsed, { kind: 'done' })
  expect(ids(transport.pending())).toEqual(['m1'])
  expect((await readBatch(transport))[0]?.count).toBe(2)
})

test('a key is closed until all of it is settled, also for its own consumer', async () => {
  const transport = memoryTransport()
  transport.send([
    { id: 'a1', key: 'a' },
    { id: 'b1', key: 'b' },
  ])
  const [a1, b1] = await readBatch(transport)
  transport.send([
    { id: 'a2', key: 'a' },
    { id: 'c1', key: 'c' },
  ])
  expect((await readBatch(transport)).map(({ message }) => message.id)).toEqual(['c1'])
  await transport.settle([b1 as Delivery, a1 as Delivery], { kind: 'done' })
  expect((await readBatch(transport)).map(({ message }) => message.id)).toEqual(['a2'])
})

test('what is given back in any order comes again in the order of its key', async () => {
  const transport = memoryTransport()
  transport.send(['a1', 'a2', 'a3'].map((id) => ({ id, key: 'a' })))
  const held = await readBatch(transport)
  for (const delivery of held.toReversed()) await transport.settle([delivery], { kind: 'release' })
  expect((await readBatch(transport)).map(({ message }) => message.id)).toEqual(['a1', 'a2', 'a3'])
})

test('after close the messages are still there for the next reader', async () => {
  const transport = memoryTransport()
  transport.send([{ id: 'm1' }, { id: 'm2' }])
  const [first] = await readBatch(transport)
  await transport.settle([first as Delivery], { kind: 'done' })
  await transport.close()
  expect(ids(transport.pending())).toEqual(['m2'])
  expect((await readBatch(transport)).map(({ message, count }) => [message.id, count])).toEqual([['m2', 2]])
})

test('what is published comes back on the same transport', async () => {
  const transport = memoryTransport()
  const results = await transport.publish([
    { id: 'm1', type: 'note.tagged', body: Uint8Array.of(1), headers: { a: 'b' }, sentAt: new Date(0) },
  ])
  expect(results).toEqual([{ kind: 'sent' }])
  expect(ids(transport.pending())).toEqual(['m1'])
})

test('an option that is not known is refused', () => {
  expect(() => memoryTransport({ visibility: 1 } as object)).toThrow('Did you mean visibilityMs?')
})
