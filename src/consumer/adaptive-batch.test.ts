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

let activeMs = 0
let messages = 0

/** A batch has ended, after nothing else had been done since the one before it. */
function end(sizes: AdaptiveBatch, handled: readonly Delivery[], tookMs: number, conflicts = 0, overheadMs = 0): void {
  activeMs += tookMs
  messages += handled.length
  const ended = { handled, size: handled.length, tookMs, waitedMs: 0, overheadMs, conflicts, failures: 0 }
  sizes.learn(ended, { activeMs, messages })
}

/** Takes, and says how long that took, until batches no longer grow. Returns the largest of the last ones: others are tried, too. */
function settle(sizes: AdaptiveBatch, messageMs: number, type = 'a'): number {
  const taken = Array.from({ length: 60 }, () => {
    const batch = take(sizes, deliveries(1_000, type))
    end(sizes, batch, batch.length * messageMs)
    return batch.length
  })
  return Math.max(...taken.slice(-30))
}

test('it takes what is there, from the front, and never waits for more', () => {
  const sizes = new AdaptiveBatch({ max: 50, budgetMs: 100, start: 50 })
  const queue = deliveries(3)
  const [first] = queue
  expect(take(sizes, queue)[0]).toBe(first)
  expect(queue).toEqual([])
})

test('of an unknown type it takes one at first: a slow handler must not hold its locks for seconds', () => {
  const queue = deliveries(100)
  expect(take(new AdaptiveBatch({ max: 50, budgetMs: 100 }), queue)).toHaveLength(1)
  expect(queue).toHaveLength(99)
  expect(take(new AdaptiveBatch({ max: 50, budgetMs: 100, start: 50 }), queue), 'and few if it is alone').toHaveLength(
    8,
  )
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
  expect(take(sizes, mixed).map(({ message }) => message.type)).toEqual(Array(10).fill('fast'))
  expect(take(sizes, mixed)).toHaveLength(1)
})

test('a costly conflict halves the batches of its type, and no others', () => {
  const sizes = new AdaptiveBatch({ max: 48, budgetMs: 100, start: 8 })
  end(sizes, deliveries(8), 1)
  end(sizes, deliveries(8, 'b'), 1)
  end(sizes, deliveries(8), 100, 1)
  expect(take(sizes, deliveries(100))).toHaveLength(4)
  expect(take(sizes, deliveries(100, 'b'))).toHaveLength(8)
  const mixed = [...deliveries(5, 'b'), ...deliveries(1), ...deliveries(9, 'b')]
  expect(take(sizes, mixed), 'what collides does not join a batch that is too large for it').toHaveLength(5)
  expect(take(sizes, mixed), 'and keeps its own small').toHaveLength(4)
})

test('conflicts never make it smaller than one', () => {
  const sizes = new AdaptiveBatch({ max: 8, budgetMs: 100 })
  for (let i = 0; i < 10; i++) end(sizes, deliveries(1), 1, 1)
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
      for (const { count, ms, conflicts } of lessons) end(sizes, deliveries(count), ms, conflicts)
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
  expect(take(sizes, deliveries(100))).toHaveLength(1)
})

test('messages are spread over the idle workers, unless batches would become mostly overhead', () => {
  const sizes = new AdaptiveBatch({ max: 50, budgetMs: 100, start: 50 })
  for (let i = 0; i < 30; i++) end(sizes, deliveries(50), 110, 0, 10)
  // A message takes 2 ms, and a batch another 10: less than 40 ms of messages is not worth a batch.
  expect(take(sizes, deliveries(20), 4)).toHaveLength(20)
  const many = deliveries(120)
  expect([4, 3, 2, 1].map((idle) => take(sizes, many, idle).length)).toEqual([30, 30, 30, 30])
  settle(sizes, 25, 'slow')
  const slow = deliveries(8, 'slow')
  expect([4, 3, 2, 1].map((idle) => take(sizes, slow, idle).length)).toEqual([2, 2, 2, 2])
})

test('what is handled in one go is never spread, and takes turns', () => {
  const sizes = new AdaptiveBatch({ max: 50, budgetMs: 100 }, (type) => type === 'gathered')
  for (const size of [8, 8, 16, 16, 32, 32]) end(sizes, deliveries(size, 'gathered'), size)
  expect(take(sizes, deliveries(40, 'gathered'), 4)).toHaveLength(40)
  const fresh = new AdaptiveBatch({ max: 50, budgetMs: 100 }, (type) => type === 'gathered')
  const ends = [fresh.begin(['gathered', 'a']), fresh.begin(['gathered', 'a'])]
  expect([fresh.mayBegin('gathered'), fresh.mayBegin('a'), fresh.isHoldingBack]).toEqual([false, true, true])
  ends[0]?.end()
  expect([fresh.mayBegin('gathered'), fresh.isHoldingBack]).toEqual([true, false])
  end(fresh, deliveries(8, 'gathered'), 1, 1)
  expect(take(fresh, deliveries(100, 'gathered')), 'a conflict does not make its batches smaller').toHaveLength(50)
})

test('what nobody knows the time of does not share a batch with what is known to be quick', () => {
  const sizes = new AdaptiveBatch({ max: 50, budgetMs: 100, start: 50 })
  settle(sizes, 0.1, 'quick')
  expect(take(sizes, [...deliveries(3, 'quick'), ...deliveries(3, 'new')])).toHaveLength(3)
  expect(take(sizes, [...deliveries(3, 'new'), ...deliveries(3, 'quick')])).toHaveLength(3)
})

test('only what was handled teaches anything: what was left took no time', () => {
  const sizes = new AdaptiveBatch({ max: 50, budgetMs: 100, start: 50 })
  end(sizes, [], 500)
  expect(take(sizes, deliveries(100))).toHaveLength(8)
  end(sizes, deliveries(1), 500)
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

test('a slow message that is the first counts as one of many, not for as many as are remembered', () => {
  const sizes = new AdaptiveBatch({ max: 50, budgetMs: 100 })
  end(sizes, deliveries(1), 8_000)
  expect(sizes.usualSize).toBe(1)
  for (let turn = 0; turn < 300; turn++) end(sizes, deliveries(1), 1)
  expect(sizes.usualSize).toBeGreaterThan(5)
})

test('what is handled in one go gets larger batches than other types, and so more of it is wanted', () => {
  const sizes = new AdaptiveBatch({ max: 50, gatheredMax: 100, budgetMs: 1_000 }, (type) => type === 'gathered')
  for (let turn = 0; turn < 20; turn++) end(sizes, take(sizes, deliveries(200, 'gathered')), 1)
  expect(take(sizes, deliveries(200, 'gathered'))).toHaveLength(100)
  expect(sizes.usualSize).toBe(100)
  expect(settle(sizes, 0.1)).toBe(50)
  expect(sizes.usualSize).toBe(50)
})
