import { expect, test } from 'vitest'
import { TriedLimit } from './tried-limit.ts'

const batchSize = (max: number, start: number) => new TriedLimit({ max, start, prefers: 'more' })

interface World {
  /** How long all workers together need for a message, in batches of this size. */
  costMs(size: number): number
  /** The share of batches of this size that collide. */
  conflicts?(size: number): number
  /** How many messages wait. Default: more than enough. */
  waiting?: number
}

/** Runs batches for so long, and returns the average time of a message in the last tenth. */
function settle(size: TriedLimit, { costMs, conflicts = () => 0, waiting = 1_000 }: World, seconds = 30): number {
  const random = randomFrom(1)
  let activeMs = 0
  let messages = 0
  let late = { activeMs: 0, messages: 0 }
  while (activeMs < seconds * 1_000) {
    const count = Math.min(size.limit, waiting)
    const hasConflict = random() < conflicts(count)
    // Every machine has other things to do, too.
    const tookMs = count * costMs(count) * (0.7 + random() * 0.6) + (hasConflict ? 100 : 0)
    activeMs += tookMs
    messages += count
    if (activeMs > seconds * 900) late = { activeMs: late.activeMs + tookMs, messages: late.messages + count }
    size.ended(count, hasConflict, { activeMs, messages })
  }
  return late.activeMs / late.messages
}

const overhead = (perBatch: number, perMessage: number) => (size: number) => perBatch / size + perMessage

test('where nothing collides, batches grow to the largest at once', () => {
  const size = batchSize(100, 8)
  settle(size, { costMs: overhead(1, 0.1) }, 0.2)
  expect(size.limit).toBe(100)
})

test('where large ones collide, it comes near to the best there is', () => {
  const world = { costMs: overhead(1, 0.2), conflicts: (size: number) => (size > 8 ? 0.5 : 0) }
  const best = world.costMs(8)
  expect(settle(batchSize(100, 8), world)).toBeLessThan(best * 1.25)
})

test('where large ones only wait for each other, it notices that they are slower', () => {
  const costMs = (size: number): number => 1 / size + 0.2 + size * 0.05
  expect(settle(batchSize(100, 8), { costMs })).toBeLessThan(costMs(4) * 1.25)
})

test('where one at a time is best, it gets there from any size', () => {
  const costMs = (size: number): number => 0.5 + size * 0.1
  expect(settle(batchSize(100, 64), { costMs })).toBeLessThan(0.6 * 1.1)
})

test('where few messages wait, smaller batches are tried that they would notice', () => {
  const costMs = (size: number): number => 0.2 + size * 0.1
  expect(settle(batchSize(100, 100), { costMs, waiting: 10 })).toBeLessThan(0.3 * 1.1)
})

test('what collides at any size is handled one by one', () => {
  const size = batchSize(100, 8)
  settle(size, { costMs: overhead(1, 0.1), conflicts: (count) => (count > 1 ? 1 : 0) })
  expect(size.limit).toBe(1)
})

test('when the reason is gone, batches grow again', () => {
  const size = batchSize(100, 8)
  settle(size, { costMs: overhead(1, 0.1), conflicts: (count) => (count > 2 ? 1 : 0) }, 5)
  const costMs = overhead(1, 0.1)
  expect(settle(size, { costMs }, 60)).toBeLessThan(costMs(32))
})

test.each([
  { name: 'where each waits for a network, as many as possible run at once', costMs: (k: number) => 2 / k, near: 16 },
  { name: 'where processors are busy, no more run than help', costMs: (k: number) => 0.5 / Math.min(k, 2), near: 2 },
])('$name', ({ costMs, near }) => {
  const workers = new TriedLimit({ max: 16, start: 4, prefers: 'less' })
  settle(workers, { costMs })
  expect(settle(workers, { costMs }, 10)).toBeLessThan(costMs(near) * 1.2)
  expect(workers.limit / near).toBeLessThanOrEqual(2)
})

test('a batch that was begun when larger ones were allowed says nothing about smaller ones', () => {
  const size = batchSize(64, 64)
  const now = { activeMs: 0, messages: 0 }
  for (let i = 0; i < 5; i++) size.ended(64, true, now)
  expect(size.limit).toBe(32)
})

function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
