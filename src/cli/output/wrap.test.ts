import { expect, test } from 'vitest'
import { wrapped } from './wrap.ts'

const terminal = { isTTY: true, columns: 40, write() {} }

test('long lines end between words, and go on below where they began', () => {
  expect(wrapped('  --canary <n>  how many go first; the others follow if all succeed', terminal)).toBe(
    ['  --canary <n>  how many go first; the', '                others follow if all', '                succeed'].join(
      '\n',
    ),
  )
  expect(wrapped(`short\n\n${'x'.repeat(50)} end`, terminal)).toBe(`short\n\n${'x'.repeat(50)}\nend`)
})

test('a command to copy stays whole, and in a pipe everything does', () => {
  const command = `  again: justonce dead-letters redrive --handler='${'h'.repeat(60)}' --key='k'`
  expect(wrapped(command, terminal)).toBe(command)
  expect(wrapped('one two '.repeat(20), { write() {} })).toBe('one two '.repeat(20))
})
