import { expect, test } from 'vitest'
import { bar } from '../../demo/wording.ts'

test('a bar is as wide as it should be, whatever part of it is filled', () => {
  expect([-0.3, 0, 0.5, 1, 1.2].map((part) => bar(part, 10).length)).toEqual([10, 10, 10, 10, 10])
  expect(bar(-0.3, 10)).toBe(bar(0, 10))
  expect(bar(1.2, 10)).toBe(bar(1, 10))
})
