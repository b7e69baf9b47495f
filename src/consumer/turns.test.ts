import { expect, test } from 'vitest'
import { Turns } from './turns.ts'

/** How many batches go well until more may run at once. */
function batchesUntilMore(turns: Turns): number {
  const { limit } = turns
  for (let count = 0; ; count++) {
    if (turns.limit > limit) return count
    turns.wentWell()
  }
}

test('two run at once at first, and more as long as they do not collide', () => {
  const turns = new Turns()
  expect(turns.limit).toBe(2)
  expect(batchesUntilMore(turns)).toBe(8)
  expect(turns.limit).toBe(4)
})

test('after each conflict half as many run at once, each time for longer', () => {
  const turns = new Turns()
  const afterConflict = (): number => {
    turns.collided(2)
    expect(turns.limit).toBe(1)
    return batchesUntilMore(turns)
  }
  expect([afterConflict(), afterConflict(), afterConflict()]).toEqual([32, 128, 512])
  for (let i = 0; i < 10; i++) afterConflict()
  expect(afterConflict()).toBe(8_192)
})

test('several that collide with each other are one conflict', () => {
  const turns = new Turns()
  for (let i = 0; i < 5; i++) turns.collided(2)
  expect(batchesUntilMore(turns)).toBe(32)
})

test('how many ran when they collided counts, not how many were allowed to', () => {
  const turns = new Turns()
  for (let i = 0; i < 100; i++) turns.wentWell()
  turns.collided(4)
  expect(turns.limit).toBe(2)
})
