import { expect, test } from 'vitest'
import { shapeOf } from './error-shape.ts'

test.each([
  ['numbers', new Error('order 1234 has 5 lines'), new Error('order 99 has 17 lines')],
  [
    'ids',
    new Error('no user 018f3a2b-1111-7abc-8def-0123456789ab'),
    new Error('no user 018f3a2c-2222-7abc-8def-ba9876543210'),
  ],
  ['quoted values', new TypeError(`cannot read 'name' of "x"`), new TypeError(`cannot read 'age' of "y z"`)],
  ['dates', new Error('since 2030-01-01T00:00:00.000Z'), new Error('since 2031-12-31T23:59:59Z')],
  ['hashes', new Error('key 9f86d081884c7d65 is taken'), new Error('key 2c26b46b68ffc68f is taken')],
  ['further lines', new Error('no\nfirst detail'), new Error('no\nsecond detail')],
])('failures that differ only in their %s have one shape', (_, a, b) => {
  expect(shapeOf(a)).toBe(shapeOf(b))
})

test('other failures have other shapes', () => {
  const shapes = [new Error('a'), new Error('b'), new TypeError('a'), 'a', undefined].map(shapeOf)
  expect(new Set(shapes).size).toBe(shapes.length)
})

test('a shape is one clean line of at most 200 characters, whatever was thrown', () => {
  const hostile = {
    toString() {
      throw new Error('no')
    },
  }
  for (const thrown of [new Error(`a\0b\ud800${'x'.repeat(5_000)}`), hostile, Symbol('s'), null, { a: 1 }]) {
    const shape = shapeOf(thrown)
    expect(shape.length).toBeLessThanOrEqual(200)
    expect(shape).not.toMatch(/[\0\n]/)
    expect(shape.isWellFormed()).toBe(true)
  }
})
