import { expect, test } from 'vitest'
import { describeIssues } from './standard-schema.ts'

test('issues are reported with the path to them, whatever its parts are', () => {
  expect(
    describeIssues([
      { message: 'expected an object' },
      { message: 'expected number', path: ['lines', 0, { key: 'amount' }] },
      { message: 'odd', path: [Symbol('s')] },
      { message: 'at the root', path: [] },
    ]),
  ).toBe('expected an object; lines.0.amount: expected number; Symbol(s): odd; at the root')
})
