import { expect, test } from 'vitest'
import { GatheredSize } from './gathered-size.ts'

/** Runs so many full batches that go well. */
function runWell(sizes: GatheredSize, batches: number): number {
  for (let batch = 0; batch < batches; batch++) sizes.ended({ size: sizes.limit, hadSetback: false })
  return sizes.limit
}

test('batches double while all of them go well, up to the largest', () => {
  const sizes = new GatheredSize({ usual: 100, most: 500 })
  expect([0, 7, 1, 8, 8, 100].map((batches) => runWell(sizes, batches))).toEqual([100, 100, 200, 400, 500, 500])
})

test('a batch that had to run again brings them back to the usual size, and larger ones are tried later each time', () => {
  const sizes = new GatheredSize({ usual: 100, most: 500 })
  runWell(sizes, 8)
  sizes.ended({ size: 200, hadSetback: true })
  expect([0, 31, 1].map((batches) => runWell(sizes, batches))).toEqual([100, 100, 200])
  sizes.ended({ size: 200, hadSetback: true })
  expect([127, 1].map((batches) => runWell(sizes, batches))).toEqual([100, 200])
})

test('at the usual size a setback delays only the next try', () => {
  const sizes = new GatheredSize({ usual: 100, most: 500 })
  runWell(sizes, 7)
  sizes.ended({ size: 100, hadSetback: true })
  expect([7, 1].map((batches) => runWell(sizes, batches))).toEqual([100, 200])
})

test('what went well at a larger size shortens the wait after the next setback', () => {
  const sizes = new GatheredSize({ usual: 100, most: 500 })
  runWell(sizes, 8)
  sizes.ended({ size: 200, hadSetback: true })
  runWell(sizes, 32)
  expect(runWell(sizes, 32)).toBe(400)
  expect(runWell(sizes, 16)).toBe(500)
})

test('batches that were not full say nothing about larger ones', () => {
  const sizes = new GatheredSize({ usual: 100, most: 500 })
  for (let batch = 0; batch < 50; batch++) sizes.ended({ size: 99, hadSetback: false })
  expect(sizes.limit).toBe(100)
})

test('a largest size below the usual one changes nothing', () => {
  expect(runWell(new GatheredSize({ usual: 100, most: 10 }), 100)).toBe(100)
})
