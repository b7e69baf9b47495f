import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Delivery } from '../contracts/index.ts'
import { AdaptiveBatch } from './adaptive-batch.ts'

const deliveries = (count: number, type = 'a'): Delivery[] =>
  Array.from({ length: count }, (_, index) => ({
    message: { id: `${type}${index}`, type, source: 's', headers: {}, body: new Uint8Array() },
  }))

/** Takes, and says how long that took, until the size no longer changes. */
function settle(sizes: AdaptiveBatch, messageMs: number, type = 'a'): number {
  let size = 0
  for (let i = 0; i < 60; i++) {
    const batch = sizes.take(deliveries(1_000, type))
    sizes.learn(batch, batch.length * messageMs, 0)
    size = batch.length
  }
  return size
}

test('it takes what is there, from the front, and never waits for more', () => {
  const sizes = new AdaptiveBatch({ max: 50, budgetMs: 100 })
  const queue = deliveries(3)
  const [first] = queue
  expect(sizes.take(queue)[0]).toBe(first)
  expect(queue).toEqual([])
})

test('of an unknown type it takes a few at first: a slow handler must not hold its locks for seconds', () => {
  const queue = deliveries(100)
  expect(new AdaptiveBatch({ max: 50, budgetMs: 100 }).take(queue)).toHaveLength(8)
  expect(queue).toHaveLength(92)
})

test('fast messages fill the batch, up to the largest', () => {
  expect(settle(new AdaptiveBatch({ max: 50, budgetMs: 100 }), 0.1)).toBe(50)
  expect(settle(new AdaptiveBatch({ max: 5, budgetMs: 100 }), 0.1)).toBe(5)
})

test('slow ones are as many as fit into the budget, and at least one', () => {
  expect(settle(new AdaptiveBatch({ max: 50, budgetMs: 100 }), 9)).toBe(11)
  expect(settle(new AdaptiveBatch({ max: 50, budgetMs: 100 }), 5_000)).toBe(1)
})

test('each type has its own pace', () => {
  const sizes = new AdaptiveBatch({ max: 50, budgetMs: 100 })
  settle(sizes, 60, 'slow')
  settle(sizes, 0.1, 'fast')
  const mixed = [...deliveries(10, 'fast'), ...deliveries(5, 'slow')]
  expect(sizes.take(mixed).map(({ message }) => message.type)).toEqual([...Array(10).fill('fast'), 'slow'])
})

test('a conflict halves the batches of its type, and every batch that goes well gives a little back', () => {
  const sizes = new AdaptiveBatch({ max: 48, budgetMs: 100 })
  settle(sizes, 0.1)
  settle(sizes, 0.1, 'b')
  sizes.learn(deliveries(48), 1, 1)
  expect(sizes.take(deliveries(100))).toHaveLength(24)
  expect(sizes.take(deliveries(100, 'b'))).toHaveLength(48)
  sizes.learn(deliveries(24), 1, 2)
  expect(sizes.take(deliveries(100))).toHaveLength(12)
  const growth = Array.from({ length: 30 }, () => {
    const batch = sizes.take(deliveries(100))
    sizes.learn(batch, 1, 0)
    return batch.length
  })
  expect(growth.slice(0, 4)).toEqual([12, 13, 15, 17])
  expect(growth.toSorted((a, b) => a - b)).toEqual(growth)
  expect(growth.at(-1)).toBe(48)
})

test('conflicts never make it smaller than one', () => {
  const sizes = new AdaptiveBatch({ max: 8, budgetMs: 100 })
  for (let i = 0; i < 10; i++) sizes.learn(deliveries(1), 1, 1)
  expect(sizes.take(deliveries(5))).toHaveLength(1)
})

test('whatever it has learnt, it takes at least one, at most the largest, and nothing out of order', () => {
  const lesson = fc.record({
    count: fc.integer({ min: 1, max: 20 }),
    ms: fc.double({ min: 0, max: 1e6, noNaN: true }),
    conflicts: fc.nat(2),
  })
  fc.assert(
    fc.property(fc.array(lesson, { maxLength: 20 }), fc.integer({ min: 1, max: 60 }), (lessons, waiting) => {
      const sizes = new AdaptiveBatch({ max: 30, budgetMs: 100 })
      for (const { count, ms, conflicts } of lessons) sizes.learn(deliveries(count), ms, conflicts)
      const all = deliveries(waiting)
      const queue = [...all]
      const batch = sizes.take(queue)
      expect(batch.length).toBeGreaterThanOrEqual(1)
      expect(batch.length).toBeLessThanOrEqual(30)
      expect([...batch, ...queue]).toEqual(all)
    }),
  )
})

test('messages without a type are a type, and made-up types do not pile up', () => {
  const sizes = new AdaptiveBatch({ max: 50, budgetMs: 100 })
  const [untyped] = deliveries(1)
  const queue = [{ message: { ...(untyped as Delivery).message, type: undefined } }]
  expect(sizes.take(queue)).toHaveLength(1)
  settle(sizes, 0.1)
  for (let i = 0; i < 2_000; i++) sizes.take(deliveries(1, `made-up-${i}`))
  // It was forgotten, and starts small again.
  expect(sizes.take(deliveries(100))).toHaveLength(8)
})

test('a batch takes what shares a key with the oldest, and leaves the rest in the order of arrival', () => {
  const keys = ['a', 'b', 'c', 'a', 'b', 'a']
  const queue = deliveries(6).map((delivery, i) => ({ message: { ...delivery.message, key: keys[i] } }))
  const batch = new AdaptiveBatch({ max: 4, budgetMs: 100 }).take(queue)
  expect(batch.map(({ message }) => message.id)).toEqual(['a0', 'a3', 'a5', 'a1'])
  expect(queue.map(({ message }) => message.id)).toEqual(['a2', 'a4'])
})
