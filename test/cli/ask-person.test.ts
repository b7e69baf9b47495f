import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { askPerson } from '../../src/cli/ask-person.ts'

/** A terminal at which somebody types. */
function terminal() {
  const input = new PassThrough()
  const output = Object.assign(new PassThrough(), { isTTY: true })
  return { input, output }
}

test('an answer is what was typed', async () => {
  const { input, output } = terminal()
  const asked = askPerson('Discard? ', { input, output })
  input.write('yes\r')
  expect(await asked).toBe('yes')
})

test.for([
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
] as const)('%s is no answer', async ([, typed]) => {
  const { input, output } = terminal()
  const asked = askPerson('Discard? ', { input, output })
  input.write(typed)
  await expect(asked).rejects.toThrow('there was no answer, and nothing was done.')
})

test('nor is the end of the terminal', async () => {
  const { input, output } = terminal()
  const asked = askPerson('Discard? ', { input, output })
  input.end()
  await expect(asked).rejects.toThrow('there was no answer')
})
