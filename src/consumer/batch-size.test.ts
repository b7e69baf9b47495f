import { expect, test } from 'vitest'
import { BatchSize, type SizeSample } from './batch-size.ts'

interface Batches {
  readonly count: number
  /** How long a message takes in batches of this size. */
  messageMs?(size: number): number
  conflicts?(size: number): boolean
}

const overheadMs = 2

/** After a conflict, everything runs again, each message in a transaction of its own. */
function ended(size: number, messageMs: number, hadConflict = false): SizeSample {
  const onceMs = overheadMs + size * messageMs
  const tookMs = hadConflict ? 2 * onceMs + (size - 1) * overheadMs : onceMs
  return { size, tookMs, overheadMs: hadConflict ? size * overheadMs : overheadMs, hadConflict }
}

/** Ends so many batches that were as large as allowed. */
function run(size: BatchSize, { count, messageMs = () => 1, conflicts = () => false }: Batches): number {
  for (let i = 0; i < count; i++) {
    const { limit } = size
    size.ended(ended(limit, messageMs(limit), conflicts(limit)))
  }
  return size.limit
}

test('batches double every few batches while their messages take as long as ever', () => {
  const size = new BatchSize({ max: 100, start: 1 })
  expect(run(size, { count: 60 })).toBe(100)
})

test('messages that take no time by the clock are not slow', () => {
  expect(run(new BatchSize({ max: 100, start: 1 }), { count: 60, messageMs: () => 0 })).toBe(100)
})

test('a conflict of a large batch costs as much as many batches, and halves them at once', () => {
  const size = new BatchSize({ max: 64, start: 64 })
  run(size, { count: 5 })
  expect(run(size, { count: 1, conflicts: () => true })).toBe(32)
})

test('a conflict now and then costs small batches less than even smaller ones would', () => {
  const size = new BatchSize({ max: 8, start: 8 })
  for (let i = 1; i <= 1_000; i++) size.ended(ended(size.limit, 1, i % 30 === 0))
  expect(size.limit).toBe(8)
})

test('small batches that collide again and again become smaller', () => {
  const size = new BatchSize({ max: 8, start: 8 })
  for (let i = 1; i <= 60; i++) size.ended(ended(size.limit, 1, i % 4 === 0))
  expect(size.limit).toBeLessThan(8)
})

test('they get to a size that collided again only after a pause, which becomes longer each time', () => {
  const size = new BatchSize({ max: 64, start: 1 })
  const collided: number[] = []
  for (let i = 0; i < 1_200; i++) {
    const before = size.limit
    size.ended(ended(size.limit, 1, size.limit >= 32))
    if (size.limit < before) collided.push(i)
  }
  const pauses = collided.slice(1).map((at, i) => at - (collided[i] as number))
  expect(pauses.length).toBeGreaterThan(2)
  expect(pauses).toEqual(pauses.toSorted((a, b) => a - b))
  expect(pauses.at(-1)).toBeGreaterThan(3 * (pauses[0] as number))
})

test('messages that take several times as long as usual wait for rows of others: batches become smaller', () => {
  const messageMs = (size: number): number => (size > 8 ? 4 : 1)
  const size = new BatchSize({ max: 64, start: 1 })
  const limits = new Set<number>()
  for (let i = 0; i < 300; i++) {
    limits.add(size.limit)
    run(size, { count: 1, messageMs })
  }
  expect(limits).toContain(16)
  expect(limits).not.toContain(32)
  expect(run(size, { count: 20, messageMs })).toBe(8)
})

test('if everything becomes slower, that is the new usual', () => {
  const size = new BatchSize({ max: 64, start: 64 })
  expect(run(size, { count: 500, messageMs: () => 5 })).toBe(64)
})

test('one slow batch is chance', () => {
  const size = new BatchSize({ max: 64, start: 64 })
  run(size, { count: 20 })
  size.ended(ended(64, 2))
  expect(size.limit).toBe(64)
})

test('a batch that was begun when larger ones were allowed says nothing about smaller ones', () => {
  const size = new BatchSize({ max: 64, start: 64 })
  run(size, { count: 5 })
  for (let i = 0; i < 5; i++) size.ended(ended(64, 1, true))
  expect(size.limit).toBe(32)
})

test('what the first batches of a size lose counts as much as what later ones do', () => {
  const size = new BatchSize({ max: 64, start: 1 })
  const limits = new Set<number>()
  for (let i = 0; i < 40; i++) {
    limits.add(size.limit)
    // Each fourth message waits for nobody.
    run(size, { count: 1, messageMs: (limit) => (limit === 1 || i % 4 === 0 ? 1 : 5) })
  }
  expect([...limits]).toEqual([1, 2])
})

test('where any two messages in a batch collide, it is crowded', () => {
  const size = new BatchSize({ max: 64, start: 1 })
  run(size, { count: 10, conflicts: (limit) => limit > 1 })
  expect(size.limit).toBe(1)
  expect(size.isCrowded).toBe(true)
})

test('where even single messages wait for each other, it is crowded', () => {
  const size = new BatchSize({ max: 64, start: 1 })
  for (let i = 0; i < 40; i++) run(size, { count: 1, messageMs: () => (i % 4 === 0 ? 1 : 10) })
  expect(size.limit).toBe(1)
  expect(size.isCrowded).toBe(true)
})
