import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cleanText } from './clean-text.ts'

/** Any UTF-16 at all, much of it from where the trouble is. */
const anyUnits = fc.array(
  fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0xd800, max: 0xdfff }), fc.constant(0)),
)

test('what any database takes stays as it is', () => {
  expect(cleanText('é 😀 \n\t"quoted"', 100)).toBe('é 😀 \n\t"quoted"')
})

test('NUL and lone surrogates are replaced by something that can be seen', () => {
  expect(cleanText('a\0b\ud800c\udc00', 100)).toBe('a␀b\ufffdc\ufffd')
})

test('it is cut where it is too long, and says so', () => {
  expect(cleanText('abcdef', 6)).toBe('abcdef')
  expect(cleanText('abcdefg', 6)).toBe('abcde…')
  // Cut in the middle of a pair.
  expect(cleanText('abcd😀fgh', 6)).toBe('abcd\ufffd…')
})

test('whatever comes in, what comes out is well-formed, without NUL and short enough', () => {
  fc.assert(
    fc.property(anyUnits, fc.integer({ min: 1, max: 20 }), (units, max) => {
      const clean = cleanText(String.fromCharCode(...units), max)
      expect(clean.isWellFormed() && !clean.includes('\0') && clean.length <= max).toBe(true)
    }),
  )
})
