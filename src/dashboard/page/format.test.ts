import { expect, test } from 'vitest'
import { inOrder, jsonText } from './format.ts'

test('characters that turn the order of a text are shown, and text that is read from the right stays', () => {
  expect(inOrder('a\u202eb\u2066c\u200fd')).toBe('a�b�c�d')
  expect(inOrder('הזמנה 7')).toBe('הזמנה 7')
})

test('a body is shown in its order, and is the same when it is read again', () => {
  const body = { note: 'pay \u202e001 to \u2066eve', '\u200fkey': 'הזמנה 7' }
  expect(jsonText(body)).toContain('pay \\u202e001 to \\u2066eve')
  expect(jsonText(body)).toContain('הזמנה 7')
  for (const value of [body, 'a\u202eb']) expect(JSON.parse(jsonText(value))).toEqual(value)
})
