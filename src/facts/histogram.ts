/**
 * How often durations of some length occurred, by bucket. Buckets grow by the square root of two from 0.1 ms, so that a
 * quantile is right to within a fifth, whatever the durations are. Only buckets that are not empty are stored.
 */
export type Histogram = ReadonlyMap<number, number>

const firstMs = 0.1
const lastBucket = 50

/** The bucket of a duration: bucket 0 ends at 0.1 ms, the last one has no end. */
export function bucketOf(ms: number): number {
  if (!(ms > firstMs)) return 0
  return Math.min(lastBucket, Math.ceil(2 * Math.log2(ms / firstMs)))
}

/** Where a bucket ends, in milliseconds; it begins where the one before it ends. */
export function endOfBucket(bucket: number): number {
  return firstMs * 2 ** (bucket / 2)
}

export function countDuration(histogram: Map<number, number>, ms: number): void {
  const bucket = bucketOf(ms)
  histogram.set(bucket, (histogram.get(bucket) ?? 0) + 1)
}

export function mergeInto(histogram: Map<number, number>, other: Histogram): void {
  for (const [bucket, count] of other) histogram.set(bucket, (histogram.get(bucket) ?? 0) + count)
}

/** The duration that this share of all durations does not exceed, 0 < share ≤ 1; `undefined` if there are none. */
export function quantile(histogram: Histogram, share: number): number | undefined {
  let total = 0
  for (const count of histogram.values()) total += count
  if (total === 0) return undefined
  let left = share * total
  for (const bucket of [...histogram.keys()].toSorted((a, b) => a - b)) {
    const count = histogram.get(bucket) as number
    if (left > count) {
      left -= count
      continue
    }
    // Within a bucket the durations are taken to be spread evenly.
    const begin = bucket === 0 ? 0 : endOfBucket(bucket - 1)
    return begin + (endOfBucket(bucket) - begin) * (left / count)
  }
  return endOfBucket(lastBucket)
}
