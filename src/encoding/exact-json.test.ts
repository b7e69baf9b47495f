import { expect, test } from 'vitest'
import { canonicalJson } from './canonical-json.ts'
import { mayHoldInexactNumbers, parseExactly } from './exact-json.ts'

const canonical = (text: string): string => canonicalJson(parseExactly(text))

test.each([
  ['9007199254740993', '9007199254740992'],
  ['1e400', 'null'],
  ['1e400', '1e401'],
  ['-1e400', '1e400'],
  ['1e-400', '0'],
  ['0.1234567890123456789', '0.1234567890123456788'],
  ['12345678901234567890', '12345678901234567891'],
  ['[9007199254740993]', '["9007199254740993"]'],
  ['{"b":9007199254740993,"a":1}', '{"b":9007199254740992,"a":1}'],
])('%s and %s are different contents', (one, other) => {
  expect(canonical(one)).not.toBe(canonical(other))
  for (const text of [one, other])
    if (/\d/.test(text) && text !== '0') expect(mayHoldInexactNumbers(text) || canonical(text) === text).toBe(true)
})

test.each([
  ['1', '1.0'],
  ['1e2', '100'],
  ['1E+400', '10e399'],
  ['1e400', '1.0e400'],
  ['9007199254740993', '9007199254740993.000'],
  ['9007199254740993', '900719925474099.3e1'],
  ['{"a":1e400,"b":2}', '{"b":2.0,"a":10.0e399}'],
  ['1e21', '1000000000000000000000'],
])('%s and %s are the same', (one, other) => expect(canonical(one)).toBe(canonical(other)))

test.each(['0', '-0', '1.5', '1700000000000', '{"a":[1,2,{"b":0.1}],"c":"9007199254740993"}', '5e-324', '"1e400"'])(
  'what a number in JavaScript can hold is written as always: %s',
  (text) => expect(canonical(text)).toBe(canonicalJson(JSON.parse(text))),
)

test('ids and texts do not look doubtful', () => {
  expect(mayHoldInexactNumbers('{"id":"550e8400-e29b-41d4-a716-446655440000","n":123456789012345}')).toBe(false)
})

test('a number of a megabyte is looked at once', () => {
  const long = `1${'0'.repeat(500_000)}1`
  expect(canonical(long)).toBe(canonical(`${long}.0`))
  expect(canonical(`1e${long}`)).not.toBe(canonical('1e400'))
})

test('an exponent that no number could hold does no harm', () => {
  expect(canonical('1e99999999999999999999')).not.toBe(canonical('1e99999999999999999998'))
})
