import { expect, test } from 'vitest'
import { anyJson, anyText } from './any-text.ts'

const circle: { self?: unknown } = {}
circle.self = circle
const throwing = {
  toString() {
    throw new Error('no')
  },
}

test.each([
  ['a', 'a'],
  [7n, '7'],
  [null, 'null'],
  [Symbol('odd'), 'Symbol(odd)'],
  [Object.create(null), 'object'],
  [throwing, 'object'],
])('text of %o', (value, text) => {
  expect(anyText(value)).toBe(text)
})

test('JSON stays what it is where it can be made, and is text where it cannot', () => {
  expect(anyJson(['a', undefined, { b: 7n }])).toBe('["a",null,{"b":"7"}]')
  expect(anyJson(['a', circle])).toBe('["a","[object Object]"]')
  expect(anyJson([Object.create(null, { self: { value: circle, enumerable: true } })])).toBe('["object"]')
})
