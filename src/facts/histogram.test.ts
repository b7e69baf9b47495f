import { expect, test } from 'vitest'
import { bucketOf, countDuration, endOfBucket, mergeInto, quantile } from './histogram.ts'

test('every duration is in the bucket that ends at or after it', () => {
  for (const ms of [0, 0.05, 0.1, 0.1001, 1, 7, 100, 12_345, 3_000_000]) {
    const bucket = bucketOf(ms)
    expect(ms).toBeLessThanOrEqual(endOfBucket(bucket) * (1 + 1e-9))
    if (bucket > 0) expect(ms).toBeGreaterThan(endOfBucket(bucket - 1) * (1 - 1e-9))
  }
  expect(bucketOf(Number.NaN)).toBe(0)
  expect(bucketOf(1e12)).toBe(bucketOf(1e15))
})

test('quantiles are right to within a bucket, also of histograms that were merged', () => {
  const [first, second] = [new Map<number, number>(), new Map<number, number>()]
  for (let ms = 1; ms <= 1_000; ms++) countDuration(ms % 2 === 0 ? first : second, ms)
  mergeInto(first, second)
  for (const share of [0.1, 0.5, 0.9, 0.99]) {
    const found = quantile(first, share) as number
    expect(found / (share * 1_000)).toBeGreaterThan(0.8)
    expect(found / (share * 1_000)).toBeLessThan(1.25)
  }
  expect(quantile(new Map(), 0.5)).toBeUndefined()
})
