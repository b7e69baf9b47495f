import fc from 'fast-check'
import { expect, test } from 'vitest'
import { diffLines } from './diff.ts'

test('names what was removed and added, and nothing more', () => {
  expect(diffLines('a\nb\nc', 'a\nx\nc')).toEqual([
    { is: 'same', text: 'a' },
    { is: 'removed', text: 'b' },
    { is: 'added', text: 'x' },
    { is: 'same', text: 'c' },
  ])
})

test('leads from one text to the other, whatever they are', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', '')).map((lines) => lines.join('\n'))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = diffLines(before, after)
      const without = (is: string) => lines.filter((line) => line.is !== is).map((line) => line.text)
      expect(without('added').join('\n')).toBe(before)
      expect(without('removed').join('\n')).toBe(after)
    }),
  )
})
