import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Delivery } from '../contracts/index.ts'
import { AdaptiveBatch } from './adaptive-batch.ts'

const deliveries = (count: number, type = 'a'): Delivery[] =>
  Array.from({ length: count }, (_, index) => ({
    message: { id: `${type}${index}`, type, source: 's', headers: {}, body: new Uint8Array() },
  }))

/** Takes from the front, as many as are wanted by one who is alone or one of several who are idle. */
function take(sizes: AdaptiveBatch, queue: Delivery[], idle = 1): Delivery[] {
  const isWanted = sizes.chooser(queue, idle)
  const end = queue.findIndex((delivery) => !isWanted(delivery))
  return queue.splice(0, end < 0 ? queue.length : end)
}

/** Takes, and says how long that took, until the size no longer changes. */
function settle(sizes: AdaptiveBatch, messageMs: number, type = 'a'): number {
  let size = 0
  for (let i = 0; i < 60; i++) {
    const batch = take(sizes, deliveries(1_000, type))
    sizes.learn(batch, batch.length * messageMs, 0)
    size = batch.length
  }
  return size
}

test('it takes what is there, from the front, and never waits for more', () => {
  const sizes = new AdaptiveBatch({ max: 50, budgetMs: 100 })
  const queue = deliveries(3)
  const [first] = queue
  expect(take(sizes, queue)[0]).toBe(first)
  expect(queue).toEqual([])
})

test('of an unknown type it takes a few at first: a slow handler must not hold its locks for seconds', () => {
  const queue = deliveries(100)
  expect(take(new AdaptiveBatch({ max: 50, budgetMs: 100 }), queue)).toHaveLength(8)
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
  expect(take(sizes, mixed).map(({ message }) => message.type)).toEqual([...Array(10).fill('fast'), 'slow'])
})

test('a conflict halves the batches of its type, the next one takes more, and after a while each that goes well gives a little back', () => {
  const sizes = new AdaptiveBatch({ max: 48, budgetMs: 100 })
  settle(sizes, 0.1)
  settle(sizes, 0.1, 'b')
  sizes.learn(deliveries(48), 1, 1)
  expect(take(sizes, deliveries(100))).toHaveLength(24)
  expect(take(sizes, deliveries(100, 'b'))).toHaveLength(48)
  sizes.learn(deliveries(24), 1, 2)
  expect(take(sizes, deliveries(100))).toHaveLength(3)
  const growth = Array.from({ length: 150 }, () => {
    const batch = take(sizes, deliveries(100))
    sizes.learn(batch, 1, 0)
    return batch.length
  })
  // 256 messages later: the second conflict has doubled the patience.
  expect(growth.slice(0, 86)).toEqual(Array(86).fill(3))
  expect(growth.slice(86, 89)).toEqual([4, 5, 6])
  expect(growth.toSorted((a, b) => a - b)).toEqual(growth)
  expect(growth.at(-1)).toBe(48)
})

test('a type that collides whenever its batches grow tries it ever more rarely, until it has been calm for long', () => {
  const sizes = new AdaptiveBatch({ max: 48, budgetMs: 100 })
  settle(sizes, 0.1)
  const untilNext = (): number => {
    for (let handled = 0; ; ) {
      const batch = take(sizes, deliveries(100))
      const isColliding = batch.length > 1
      sizes.learn(batch, 1, isColliding ? 1 : 0)
      if (isColliding) return handled
      handled += batch.length
    }
  }
  while (take(sizes, deliveries(100)).length > 1) untilNext()
  const [first = 0, second = 0, third = 0] = Array.from({ length: 3 }, untilNext)
  expect(second).toBeGreaterThan(first * 1.9)
  expect(third).toBeGreaterThan(second * 1.9)
  for (let i = 0; i < 60_000; i++) sizes.learn(deliveries(1), 1, 0)
  sizes.learn(deliveries(2), 1, 1)
  expect(untilNext()).toBeLessThan(200)
})

test('conflicts never make it smaller than one', () => {
  const sizes = new AdaptiveBatch({ max: 8, budgetMs: 100 })
  for (let i = 0; i < 10; i++) sizes.learn(deliveries(1), 1, 1)
  expect(take(sizes, deliveries(5))).toHaveLength(1)
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
      const batch = take(sizes, queue)
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
  expect(take(sizes, queue)).toHaveLength(1)
  settle(sizes, 0.1)
  for (let i = 0; i < 2_000; i++) take(sizes, deliveries(1, `made-up-${i}`))
  // It was forgotten, and starts small again.
  expect(take(sizes, deliveries(100))).toHaveLength(8)
})

test('slow messages are spread over whoever is idle, quick ones stay together', () => {
  const sizes = new AdaptiveBatch({ max: 50, budgetMs: 100 })
  settle(sizes, 10, 'slow')
  settle(sizes, 0.1, 'quick')
  const slow = deliveries(20, 'slow')
  expect([4, 3, 2, 1].map((idle) => take(sizes, slow, idle).length)).toEqual([5, 5, 5, 5])
  expect(take(sizes, deliveries(40, 'quick'), 4)).toHaveLength(40)
})

test('what nobody knows the time of does not share a batch with what is known to be quick', () => {
  const sizes = new AdaptiveBatch({ max: 50, budgetMs: 100 })
  settle(sizes, 0.1, 'quick')
  expect(take(sizes, [...deliveries(3, 'quick'), ...deliveries(3, 'new')])).toHaveLength(3)
  expect(take(sizes, [...deliveries(3, 'new'), ...deliveries(3, 'quick')])).toHaveLength(3)
})

test('only what was handled teaches anything: what was left took no time', () => {
  const sizes = new AdaptiveBatch({ max: 50, budgetMs: 100 })
  sizes.learn([], 500, 0)
  expect(take(sizes, deliveries(100))).toHaveLength(8)
  sizes.learn(deliveries(1), 500, 0)
  expect(take(sizes, deliveries(100))).toHaveLength(1)
})

test('it knows how many messages one worker handles in the time of a batch', () => {
  const sizes = new AdaptiveBatch({ max: 50, budgetMs: 100 })
  expect(sizes.usualSize).toBe(8)
  settle(sizes, 0.1)
  expect(sizes.usualSize).toBe(50)
  settle(sizes, 25)
  expect(sizes.usualSize).toBeLessThan(10)
})
