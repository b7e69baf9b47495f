import { expect, test } from 'vitest'
import { fakeClock } from '../testing/fake-clock.ts'
import { inTime } from './index.ts'

const never = new Promise<string>(() => {})

test('work that ends in time settles as it does, and leaves no timer behind', async () => {
  const clock = fakeClock()
  expect(await inTime(Promise.resolve('done'), { clock, withinMs: 1_000 })).toBe('done')
  await expect(inTime(Promise.reject(new Error('no')), { clock, withinMs: 1_000 })).rejects.toThrow('no')
  expect(clock.waiting()).toBe(0)
})

test('work that takes too long is undefined, and what becomes of it later is ignored', async () => {
  const clock = fakeClock()
  const { promise, reject } = Promise.withResolvers<string>()
  const answer = inTime(promise, { clock, withinMs: 1_000 })
  await clock.advance(1_000)
  expect(await answer).toBeUndefined()
  reject(new Error('too late'))
})

test('an abort ends the wait, also one that was there before', async () => {
  const clock = fakeClock()
  const stopping = new AbortController()
  const answer = inTime(never, { clock, withinMs: 1_000, signal: stopping.signal })
  stopping.abort()
  expect(await answer).toBeUndefined()
  expect(await inTime(never, { clock, withinMs: 1_000, signal: stopping.signal })).toBeUndefined()
  expect(clock.waiting()).toBe(0)
})
