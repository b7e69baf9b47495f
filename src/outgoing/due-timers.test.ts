import { expect, test } from 'vitest'
import { fakeClock } from '../testing/fake-clock.ts'
import { DueTimers } from './due-timers.ts'

function openTimers() {
  const clock = fakeClock()
  const rung: number[] = []
  const begin = clock.monotonicMs()
  const timers = new DueTimers(clock, () => void rung.push(clock.monotonicMs() - begin))
  return { clock, rung, timers }
}

test('it wakes when each becomes due, in whatever order they were added', async () => {
  const { clock, rung, timers } = openTimers()
  timers.add({ delayMs: 300 })
  timers.add({ delayMs: 100 })
  timers.add({ at: new Date(clock.now().getTime() + 200) })
  await clock.advance(99)
  expect(rung).toEqual([])
  await clock.advance(1_000)
  expect(rung).toEqual([100, 200, 300])
})

test('those due at the same time wake once, and never before the time', async () => {
  const { clock, rung, timers } = openTimers()
  for (const delayMs of [96, 97.5, 98, 100]) timers.add({ delayMs })
  await clock.advance(1_000)
  expect(rung).toEqual([100])
})

test('a time that has passed wakes at once, and one in many hours then', async () => {
  const { clock, rung, timers } = openTimers()
  timers.add({ at: new Date(0) })
  timers.add({ delayMs: 5 * 3_600_000 })
  await clock.advance(0)
  expect(rung).toEqual([0])
  await clock.advance(6 * 3_600_000)
  expect(rung).toEqual([0, 5 * 3_600_000])
})

test('after the end nothing wakes', async () => {
  const { clock, rung, timers } = openTimers()
  timers.add({ delayMs: 10 })
  timers.end()
  await clock.advance(1_000)
  expect(rung).toEqual([])
})
