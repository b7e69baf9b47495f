import { expect, test } from 'vitest'
import { checkChoice, checkFunction, checkNumber, checkOptions } from './check-options.ts'
import type { JustonceError } from './justonce-error.ts'

function failureOf(work: () => void): JustonceError {
  try {
    work()
  } catch (error) {
    return error as JustonceError
  }
  throw new Error('it did not fail')
}

const known = ['concurrency', 'maxBodyBytes', 'batch']

test('what is known passes, whatever its value', () => {
  checkOptions({ concurrency: undefined, batch: {} }, known, 'justonce()')
  checkOptions({}, known, 'justonce()')
})

test.each([
  ['concurency', 'concurrency'],
  ['MaxBodyBytes', 'maxBodyBytes'],
  ['batchs', 'batch'],
])('%s: did you mean %s', (given, meant) => {
  const error = failureOf(() => checkOptions({ [given]: 1 }, known, 'justonce()'))
  expect(error.code).toBe('OPTION_UNKNOWN')
  expect(error.message).toBe(`justonce() has no option "${given}". Did you mean ${meant}? Check the spelling.`)
})

test('nothing near: all that are known are listed', () => {
  const error = failureOf(() => checkOptions({ colour: 1 }, known, 'justonce()'))
  expect(error.message).toContain('justonce() has no option "colour". Known are: concurrency, maxBodyBytes, batch.')
})

test.each([undefined, null, 5, ['a']])('%s is no object of options', (given) => {
  const error = failureOf(() => checkOptions(given as unknown as object, known, 'justonce()'))
  expect(error.code).toBe('OPTION_INVALID')
})

test.each([Number.NaN, Number.POSITIVE_INFINITY, -1, '5', null])('%s is no number of at least 0', (value) => {
  const error = failureOf(() => checkNumber(value as number, 'pollMs', 0))
  expect(error.code).toBe('OPTION_INVALID')
  expect(error.message).toContain(`pollMs is ${value}, but must be a number of at least 0.`)
})

test('a number at the minimum passes', () => {
  checkNumber(1, 'concurrency', 1)
})

test('a value that is none of the known ones is refused with the one that was meant', () => {
  checkChoice('ignore', 'unknownTypes', ['dead-letter', 'ignore'])
  const error = failureOf(() => checkChoice('ignored', 'unknownTypes', ['dead-letter', 'ignore']))
  expect(error.code).toBe('OPTION_INVALID')
  expect(error.message).toContain('unknownTypes is "ignored". Did you mean ignore?')
  expect(failureOf(() => checkChoice(true, 'unknownTypes', ['a', 'b'])).message).toContain('is true. Known are: a, b.')
})

test('what cannot be called is refused', () => {
  checkFunction(() => {}, 'identify')
  expect(failureOf(() => checkFunction('id', 'identify')).message).toContain('identify is "id", not a function.')
})
