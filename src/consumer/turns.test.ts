import { expect, test } from 'vitest'
import { Turns } from './turns.ts'

/** How many batches take turns until the next may run at once. */
function turnsLeft(turns: Turns): number {
  for (let count = 0; ; count++) {
    const turn = turns.begin()
    const atOnce = turns.mayBegin
    turn.end()
    if (atOnce) return count
  }
}

test('batches take turns at first, and then run at once', () => {
  const turns = new Turns()
  expect(turns.mayBegin).toBe(true)
  const turn = turns.begin()
  expect(turns.mayBegin).toBe(false)
  turn.end()
  expect(turns.mayBegin).toBe(true)
  expect(turnsLeft(turns)).toBe(7)
})

test('after a conflict they take turns again, each time for longer', () => {
  const turns = new Turns()
  turnsLeft(turns)
  const afterConflict = (): number => {
    turns.collided()
    return turnsLeft(turns)
  }
  expect([afterConflict(), afterConflict(), afterConflict()]).toEqual([32, 128, 512])
  for (let i = 0; i < 10; i++) afterConflict()
  expect(afterConflict()).toBe(8_192)
})

test('several that collide with each other are one conflict', () => {
  const turns = new Turns()
  turnsLeft(turns)
  for (let i = 0; i < 5; i++) turns.collided()
  expect(turnsLeft(turns)).toBe(32)
})

test('a turn that is given up lets the next begin, and is not counted twice when it ends', () => {
  const turns = new Turns()
  const slow = turns.begin()
  slow.giveUp()
  expect(turns.mayBegin).toBe(true)
  const next = turns.begin()
  slow.end()
  expect(turns.mayBegin).toBe(false)
  next.end()
  expect(turns.mayBegin).toBe(true)
})
