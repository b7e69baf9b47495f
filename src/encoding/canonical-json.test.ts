import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from './canonical-json.ts'

/** The same content with the keys of every object in another order. */
function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [key, reordered(inner)])
  return Object.fromEntries(entries.reverse())
}

test('the order of keys does not matter, at any depth', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => canonicalJson(reordered(value)) === canonicalJson(value)))
  expect(canonicalJson({ b: { d: 1, c: [{ z: 1, y: 2 }] }, a: null })).toBe(
    '{"a":null,"b":{"c":[{"y":2,"z":1}],"d":1}}',
  )
})

test('nothing is lost: the text reads back as the value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

test('different values have different texts', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const equal = canonicalJson(a) === canonicalJson(b)
      if (equal) expect(JSON.parse(JSON.stringify(a))).toEqual(JSON.parse(JSON.stringify(b)))
    }),
  )
  expect(canonicalJson(['1'])).not.toBe(canonicalJson([1]))
  expect(canonicalJson({ a: null })).not.toBe(canonicalJson({}))
  expect(canonicalJson([[], []])).not.toBe(canonicalJson([[[]]]))
})

test('keys that look like numbers, and one called __proto__, are only keys', () => {
  const one = JSON.parse('{"b":1,"10":2,"9":3,"__proto__":{"x":1,"a":2}}')
  const other = JSON.parse('{"__proto__":{"a":2,"x":1},"9":3,"10":2,"b":1}')
  expect(canonicalJson(one)).toBe(canonicalJson(other))
  expect(canonicalJson(one)).not.toBe(canonicalJson(JSON.parse('{"b":1,"10":2,"9":3}')))
})

test('what decides about its own JSON is in order, too', () => {
  const at = new Date('2030-01-01T00:00:00Z')
  expect(canonicalJson({ b: { toJSON: () => ({ z: 1, a: at }) } })).toBe('{"b":{"a":"2030-01-01T00:00:00.000Z","z":1}}')
})

test('what JSON cannot hold is undefined', () => {
  expect(canonicalJson(undefined)).toBeUndefined()
  expect(canonicalJson({ a: undefined })).toBe('{}')
})
