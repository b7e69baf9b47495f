import { expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { bell } from './bell.ts'

const never = new AbortController().signal

test('a ring between looking and waiting is not missed', async () => {
  const door = bell(fakeClock())
  const since = door.rings()
  door.ring()
  expect(await door.rung(since, never)).toBeUndefined()
})

test('everyone who waits is woken, and nothing is left behind', async () => {
  const clock = fakeClock()
  const door = bell(clock)
  const waits = [door.rung(door.rings(), never), door.rung(door.rings(), never, 1_000)]
  door.ring()
  await Promise.all(waits)
  expect(clock.waiting()).toBe(0)
})

test('waiting ends after its time, or with the signal', async () => {
  const clock = fakeClock()
  const door = bell(clock)
  const timed = door.rung(door.rings(), never, 1_000)
  await clock.advance(1_000)
  await timed
  const stopping = new AbortController()
  const aborted = door.rung(door.rings(), stopping.signal, 1_000)
  stopping.abort()
  await aborted
  await door.rung(door.rings(), stopping.signal)
  expect(clock.waiting()).toBe(0)
})
