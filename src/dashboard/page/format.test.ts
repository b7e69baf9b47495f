import { expect, test } from 'vitest'
import { inOrder } from './format.ts'

test('characters that turn the order of a text are shown, and text that is read from the right stays', () => {
  expect(inOrder('a\u202eb\u2066c\u200fd')).toBe('a�b�c�d')
  expect(inOrder('הזמנה 7')).toBe('הזמנה 7')
})
