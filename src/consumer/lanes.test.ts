import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Delivery } from '../contracts/index.ts'
import { Lane, Lanes } from './lanes.ts'

const delivery = (id: string, { key, lane }: { key?: string; lane?: string } = {}): Delivery => ({
  message: { id, key, source: 's', headers: {}, body: new Uint8Array() },
  lane,
})
const ids = (lane: Lane | undefined) => lane?.queue.map(({ message }) => message.id)

test('what shares a key shares a lane and stays in order, however it arrives', () => {
  const arrivals = fc.array(fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 10 }), { maxLength: 10 })
  fc.assert(
    fc.property(arrivals, fc.integer({ min: 1, max: 5 }), (batches, count) => {
      const lanes = new Lanes(count, 3)
      let sequence = 0
      for (const batch of batches) lanes.assign(batch.map((key) => delivery(String(sequence++), { key: `k${key}` })))
      for (let key = 0; key <= 6; key++) {
        const found = lanes.all
          .map(({ queue }) =>
            queue.filter(({ message }) => message.key === `k${key}`).map(({ message }) => Number(message.id)),
          )
          .filter((list) => list.length > 0)
        expect(found.length).toBeLessThanOrEqual(1)
        expect(found[0]?.toSorted((a, b) => a - b)).toEqual(found[0])
      }
      expect(lanes.all.reduce((sum, { queue }) => sum + queue.length, 0)).toBe(sequence)
    }),
  )
})

test("the transport's lane counts before the key", () => {
  const lanes = new Lanes(16, 10)
  lanes.assign(
    Array.from({ length: 20 }, (_, index) => delivery(`m${index}`, { key: `k${index}`, lane: 'partition 3' })),
  )
  expect(lanes.all.map(({ queue }) => queue.length).sort()).toEqual([...Array(15).fill(0), 20].sort())
})

test('keys are spread', () => {
  const lanes = new Lanes(4, 10)
  lanes.assign(Array.from({ length: 400 }, (_, index) => delivery(`m${index}`, { key: `order-${index}` })))
  for (const { queue } of lanes.all) expect(queue.length).toBeGreaterThan(50)
})

test('what has no key fills one lane before the next is begun', () => {
  const lanes = new Lanes(3, 2)
  lanes.assign(['a', 'b', 'c', 'd', 'e'].map((id) => delivery(id)))
  expect(lanes.all.map(ids)).toEqual([['a', 'b'], ['c', 'd'], ['e']])
})

test('it does not wait behind a busy lane while another one is idle', () => {
  const lanes = new Lanes(2, 10)
  const [first] = lanes.all as [Lane, Lane]
  first.busy = true
  lanes.assign([delivery('a')])
  expect(lanes.all.map(ids)).toEqual([[], ['a']])
})

test('when all are busy or full it goes where least is waiting', () => {
  const lanes = new Lanes(3, 2)
  for (const lane of lanes.all) lane.busy = true
  const [first, second] = lanes.all as [Lane, Lane, Lane]
  first.push([delivery('x'), delivery('y')])
  second.push([delivery('z')])
  lanes.assign(['a', 'b', 'c'].map((id) => delivery(id)))
  expect(lanes.all.map(ids)).toEqual([
    ['x', 'y'],
    ['z', 'b'],
    ['a', 'c'],
  ])
})

test('what is put back comes before everything that waits, in its own order', () => {
  const lane = new Lane()
  lane.push([delivery('c'), delivery('d')])
  lane.putBack([delivery('a'), delivery('b')])
  expect(ids(lane)).toEqual(['a', 'b', 'c', 'd'])
})

test('waiting ends when something comes, is put back, or is woken; nothing put back wakes nobody', async () => {
  const ends: ((lane: Lane) => void)[] = [
    (lane) => lane.push([delivery('a')]),
    (lane) => lane.putBack([delivery('a')]),
    (lane) => lane.wake(),
  ]
  for (const end of ends) {
    const lane = new Lane()
    let isOver = false
    const waiting = lane.waiting().then(() => {
      isOver = true
    })
    lane.putBack([])
    await new Promise((resolve) => setImmediate(resolve))
    expect(isOver).toBe(false)
    end(lane)
    await waiting
  }
})

test('where something is waiting already, waiting is over', async () => {
  const lane = new Lane()
  lane.push([delivery('a')])
  await lane.waiting()
  expect(ids(lane)).toEqual(['a'])
})

test('what is set aside keeps its key out of the queue, and comes back before what has arrived since', () => {
  const lane = new Lane()
  const [a1, b1, a2, b2, a3] = ['a', 'b', 'a', 'b', 'a'].map((key, index) => delivery(`${key}${index}`, { key })) as D5
  lane.push([b1, a2])
  lane.setAside('a', [a1])
  expect(lane.queue).toEqual([b1])
  lane.push([b2, a3])
  expect(lane.queue).toEqual([b1, b2])
  lane.resume('a')
  expect(lane.queue).toEqual([a1, a2, a3, b1, b2])
})

test('a delivery without a key is set aside by itself', () => {
  const lane = new Lane()
  const [x, y] = [delivery('x'), delivery('y')]
  lane.setAside(x, [x])
  lane.push([y])
  expect(lane.queue).toEqual([y])
  lane.resume(x)
  expect(lane.queue).toEqual([x, y])
})

test('in the end everything is taken, set aside or not, in the order of its key', () => {
  const lane = new Lane()
  const [a1, a2, b1] = [delivery('a1', { key: 'a' }), delivery('a2', { key: 'a' }), delivery('b1', { key: 'b' })]
  lane.setAside('a', [a1])
  lane.push([b1, a2])
  expect(lane.takeAll()).toEqual([a1, a2, b1])
  expect(lane.takeAll()).toEqual([])
})

type D5 = [Delivery, Delivery, Delivery, Delivery, Delivery]
