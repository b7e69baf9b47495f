import { expect, test } from 'vitest'
import type { Store } from '../contracts/index.ts'
import { memoryStore } from '../stores/memory/index.ts'
import { decideConcurrency } from './app-options.ts'

const storeOf = (connections: number): Store =>
  ({ ...memoryStore(), capabilities: { revocable: true, connections } }) as unknown as Store

test.each([
  [1, 1, 1],
  [2, 1, 1],
  [5, 1, 4],
  [10, 1, 8],
  [100, 1, 20],
  [10, 2, 4],
  [20, 2, 7],
])(
  'with %i connections and %i transports there are %i batches in flight, if nothing is said',
  (connections, transports, concurrency) => {
    expect(decideConcurrency(storeOf(connections), undefined, transports)).toBe(concurrency)
  },
)

test('what is said is done, as far as one connection is left for everything else', () => {
  expect(decideConcurrency(storeOf(10), 9, 1)).toBe(9)
  expect(() => decideConcurrency(storeOf(10), 10, 1)).toThrow(/need 11/)
  expect(() => decideConcurrency(storeOf(10), 5, 2)).toThrow(/Raise the pool size/)
  expect(() => decideConcurrency(storeOf(3), undefined, 3)).toThrow(/3 transports with concurrency 1 need 4/)
})

test('a store with one connection does one thing at a time, whatever is said', () => {
  expect(decideConcurrency(storeOf(1), 8, 2)).toBe(1)
})
