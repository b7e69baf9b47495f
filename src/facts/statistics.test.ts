import { expect, test } from 'vitest'
import { countDuration } from './histogram.ts'
import {
  addCounts,
  countsOf,
  countsOfDestination,
  isNothing,
  noCounts,
  packCounts,
  unpackCounts,
} from './statistics.ts'

function sample() {
  const counts = noCounts()
  Object.assign(countsOf(counts, 'tag-note'), { processed: 3, knownHere: 1, knownInStore: 2, failed: 4, retried: 5 })
  Object.assign(countsOf(counts, 'tag-note'), { dead: 6, expired: 7 })
  countDuration(countsOf(counts, 'tag-note').durations, 12)
  countDuration(countsOf(counts, '__proto__').durations, 3)
  countsOfDestination(counts, 'events').sent = 9
  Object.assign(counts.batches, { count: 2, messages: 10, largest: 8, ms: 15 })
  counts.published = 4
  return counts
}

test('counts are the same after they were packed and read again', () => {
  expect(unpackCounts(JSON.parse(JSON.stringify(packCounts(sample()))))).toEqual(sample())
  expect(JSON.stringify(packCounts(noCounts()))).toBe('{}')
  expect(isNothing(unpackCounts({}))).toBe(true)
})

test('added counts are the sum of both, and the largest batch is the larger one', () => {
  const sum = sample()
  addCounts(sum, sample())
  expect(sum.handlers.get('tag-note')).toMatchObject({ processed: 6, dead: 12, durations: new Map([[14, 2]]) })
  expect(sum).toMatchObject({ published: 8, batches: { count: 4, messages: 20, largest: 8, ms: 30 } })
  expect(sum.destinations.get('events')).toEqual({ sent: 18, failed: 0 })
})

test('what another version has written differently counts as nothing instead of failing', () => {
  const odd = { h: { a: [['x', 2], 'no'] }, d: { e: [] }, b: [1], p: null } as never
  const counts = unpackCounts(odd)
  expect(counts.handlers.get('a')).toMatchObject({ processed: 0, knownHere: 2 })
  expect(counts.batches.count).toBe(1)
  expect(counts.published).toBe(0)
})
