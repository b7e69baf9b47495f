import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fittedText, plainText } from './fit-text.ts'

test('what every store can keep stays as it is', () => {
  for (const text of ['', 'a', 'A ', 'größe', '⌘'.repeat(255), '\\u0000']) expect(fittedText(text)).toBe(text)
})

test('everything else becomes its beginning and a hash', () => {
  for (const text of ['\0', 'x'.repeat(256), 'a\ud800', 'tab\t'])
    expect(fittedText(text)).toMatch(/^[\x20-\x7e]{0,180}~sha256-[0-9a-f]{64}$/)
  expect(fittedText('\0\u0001').startsWith('\\u0000\\u0001~')).toBe(true)
})

test('two texts stay two, also when one looks like the other made fit', () => {
  const texts = fc.oneof(fc.string({ unit: 'binary', maxLength: 400 }), fc.constantFrom('\ud800', '\udbff', '\0', '␀'))
  fc.assert(
    fc.property(texts, texts, (a, b) => {
      const [fitA, fitB] = [fittedText(a), fittedText(b)]
      expect(fitA === fitB).toBe(a === b)
      expect(fittedText(fitA) === fitA).toBe(fitA === a)
      expect(fitA.length).toBeLessThanOrEqual(255)
    }),
  )
})

test('plain text is ASCII', () => {
  expect(plainText('a\0ü\ud800')).toBe('a\\u0000\\u00fc\\ud800')
})
