import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defaultBackoff, exponential, fixed, none } from './backoff.ts'

const error = new Error('x')

test('the default doubles up to five minutes, and is spread over its upper half', () => {
  expect([1, 2, 3, 9, 10, 100].map((attempt) => defaultBackoff(attempt, error, 0))).toEqual([
    500, 1_000, 2_000, 128_000, 150_000, 150_000,
  ])
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, random) => {
      const delayMs = defaultBackoff(attempt, error, random) as number
      const full = Math.min(1_000 * 2 ** (attempt - 1), 300_000)
      expect(delayMs >= full / 2 && delayMs <= full).toBe(true)
    }),
  )
})

test('exponential grows by its factor, up to its longest wait, and leaves to chance as much as jitter says', () => {
  const backoff = exponential({ baseMs: 10, factor: 3, maxMs: 200, jitter: 0 })
  expect([1, 2, 3, 4].map((attempt) => backoff(attempt, error, 0.9))).toEqual([10, 30, 90, 200])
  const spread = exponential({ baseMs: 100, jitter: 1 })
  expect([0, 0.25, 0.99].map((random) => spread(1, error, random))).toEqual([0, 25, 99])
})

test('fixed is always the same, none is the end', () => {
  expect([1, 5].map((attempt) => fixed(70)(attempt, error, 0.5))).toEqual([70, 70])
  expect(none(1, error, 0)).toBe('dead')
})

test.each([
  () => exponential({ baseMs: -1 }),
  () => exponential({ baseMs: Number.NaN }),
  () => exponential({ factor: 0.5 }),
  () => exponential({ maxMs: Number.POSITIVE_INFINITY }),
  () => exponential({ jitter: 1.5 }),
  () => exponential({ jitter: -0.1 }),
  () => fixed(-1),
  () => fixed('5' as never),
])('a setting that makes no sense is refused at once', (make) => {
  expect(make).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }))
})

test('a misspelt setting is refused', () => {
  expect(() => exponential({ base: 5 } as never)).toThrow(expect.objectContaining({ code: 'OPTION_UNKNOWN' }))
})
