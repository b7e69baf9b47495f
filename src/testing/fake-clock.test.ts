import { expect, test } from 'vitest'
import { fakeClock } from './fake-clock.ts'

test('time stands still until it is advanced', async () => {
  const clock = fakeClock({ start: new Date('2030-05-01T00:00:00Z') })
  const seen: string[] = []
  clock.timer(1_000, () => seen.push(clock.now().toISOString()))
  await clock.advance(999)
  expect(seen).toEqual([])
  await clock.advance(1)
  expect(seen).toEqual(['2030-05-01T00:00:01.000Z'])
  expect(clock.monotonicMs()).toBe(1_000)
})

test('due timers run in the order of their time, equal ones in the order they were set', async () => {
  const clock = fakeClock()
  const seen: string[] = []
  clock.timer(20, () => seen.push(`late at ${clock.monotonicMs()}`))
  clock.timer(10, () => seen.push(`first at ${clock.monotonicMs()}`))
  clock.timer(10, () => seen.push(`second at ${clock.monotonicMs()}`))
  await clock.advance(100)
  expect(seen).toEqual(['first at 10', 'second at 10', 'late at 20'])
  expect(clock.monotonicMs()).toBe(100)
})

test('what a due sleep goes on to do happens at its own time', async () => {
  const clock = fakeClock()
  const woke: number[] = []
  const loop = (async () => {
    for (let round = 0; round < 3; round++) {
      await clock.sleep(10)
      woke.push(clock.monotonicMs())
    }
  })()
  await clock.advance(25)
  expect(woke).toEqual([10, 20])
  await clock.advance(5)
  await loop
  expect(woke).toEqual([10, 20, 30])
})

test('a cancelled timer never fires, an aborted sleep ends at once', async () => {
  const clock = fakeClock()
  const stop = new AbortController()
  let fired = false
  clock.timer(10, () => (fired = true)).cancel()
  const slept = clock.sleep(10, stop.signal)
  expect(clock.waiting()).toBe(1)
  stop.abort()
  await slept
  await clock.sleep(10, stop.signal)
  expect(clock.waiting()).toBe(0)
  await clock.advance(100)
  expect(fired).toBe(false)
})
