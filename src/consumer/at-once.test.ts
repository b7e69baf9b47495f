import { expect, test } from 'vitest'
import { AtOnce } from './at-once.ts'

/** Ends a batch each millisecond, while this process is busy for a share of the time that depends on how many run. */
function run(max: number, shareOf: (limit: number) => number, ms = 1_000): AtOnce {
  let busyMs = 0
  const atOnce = new AtOnce(max, () => busyMs)
  for (let nowMs = 0; nowMs < ms; nowMs++) {
    busyMs += shareOf(atOnce.limit)
    atOnce.ended(nowMs)
  }
  return atOnce
}

test('while this process waits for the database, as many run as there are connections', () => {
  expect(run(15, () => 0.3).limit).toBe(15)
})

test('while this process is busy, no more than two run', () => {
  expect(run(15, () => 1).limit).toBe(2)
})

test('it settles where this process is just busy', () => {
  const { limit } = run(15, (running) => Math.min(1, running / 6))
  expect(limit).toBeGreaterThanOrEqual(4)
  expect(limit).toBeLessThanOrEqual(6)
})

test('one remains one', () => {
  expect(run(1, () => 1).limit).toBe(1)
})
