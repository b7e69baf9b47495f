import { expect, test } from 'vitest'
import { later, note, write } from '../../../test/app/open-app.ts'
import { openEngine } from '../../../test/app/open-engine.ts'
import { Isolation } from './isolation.ts'

const batch = 100
const sizesAfter = (isolation: Isolation, failures: readonly number[]) =>
  failures.map((failed) => {
    isolation.saw(failed, batch)
    return isolation.partSize
  })
const clean = (batches: number) => Array.from({ length: batches }, () => 0)

test('a batch has no parts until something fails', () => {
  expect(sizesAfter(new Isolation(batch), clean(3))).toEqual(Array(3).fill(Number.POSITIVE_INFINITY))
})

test('parts are the smaller the more fail', () => {
  expect(sizesAfter(new Isolation(batch), [1])).toEqual([10])
  expect(sizesAfter(new Isolation(batch), [4])).toEqual([5])
  expect(sizesAfter(new Isolation(batch, { travels: true }), [1])).toEqual([7])
  expect(sizesAfter(new Isolation(batch), [100])).toEqual([1])
})

test.each([
  [1, 2],
  [2, 2],
  [2, 500],
  [1_000, 3],
])('where batches have at most %d messages, one failure among %d makes parts', (largest, calls) => {
  const isolation = new Isolation(largest)
  isolation.saw(1, calls)
  expect(isolation.partSize).toBeLessThanOrEqual(largest)
})

test('while one in a hundred fails a few batches without a failure hardly change them', () => {
  const sizes = sizesAfter(new Isolation(batch), [1, 0, 2, 0, 0, 1, 1, 0, 3, 0])
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(7)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(12)
})

test('they grow back little by little when nothing fails any more, and sooner where everything did', () => {
  const sizes = sizesAfter(new Isolation(batch), [1, ...clean(40)])
  expect(sizes.slice(0, -1).every((size, place) => size <= (sizes[place + 1] as number))).toBe(true)
  expect(sizes.indexOf(Number.POSITIVE_INFINITY)).toBeGreaterThan(10)
  expect(sizesAfter(new Isolation(batch), [100, ...clean(8)]).at(-1)).toBeGreaterThanOrEqual(8)
})

test('a few messages that all fail do not decide for the many that do not', () => {
  const isolation = new Isolation(batch)
  sizesAfter(isolation, [1, 0, 1])
  isolation.saw(3, 3)
  expect(isolation.partSize).toBeGreaterThanOrEqual(5)
})

test('after a failure the next batch has parts, and what fails in it does not undo all of it', async () => {
  const { on, handle, effects, eventsOf } = openEngine()
  on('note.created', { name: 'tag-note', ...later }, ({ id }, { tx }) => {
    write(tx, id)
    if (id.startsWith('poison')) throw new Error('poison')
  })
  await handle(note('m1'), note('poison 1'))
  // The batch; alone the poison has a part.
  expect(eventsOf('rolled-back').map(({ messages }) => messages)).toEqual([2])
  await handle(note('m2'), note('poison 2'), note('m3'))
  expect(eventsOf('rolled-back').map(({ messages }) => messages)).toEqual([2])
  expect(effects()).toEqual({ m1: 1, m2: 1, m3: 1 })
})
