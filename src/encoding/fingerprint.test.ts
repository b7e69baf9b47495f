import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fingerprintOf, sameFingerprint } from './fingerprint.ts'

test('it is eight bytes, and the same for equal contents however they are written', () => {
  const one = fingerprintOf({ amount: 1, to: { name: 'a', city: 'b' } })
  expect(one).toHaveLength(8)
  expect(sameFingerprint(one, fingerprintOf({ to: { city: 'b', name: 'a' }, amount: 1 }))).toBe(true)
})

test('different contents have different ones', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      if (!sameFingerprint(fingerprintOf(a), fingerprintOf(b))) return
      expect(JSON.parse(JSON.stringify(a))).toEqual(JSON.parse(JSON.stringify(b)))
    }),
  )
  expect(sameFingerprint(fingerprintOf('undefined'), fingerprintOf(undefined))).toBe(false)
  expect(sameFingerprint(fingerprintOf(null), fingerprintOf(undefined))).toBe(false)
})

test('it stays the same from version to version: it is compared with what was stored long ago', () => {
  expect(Buffer.from(fingerprintOf({ b: 1, a: 'é' })).toString('hex')).toBe('aa58fba8483623be')
})

test('where one side has none, nothing is compared', () => {
  const one = fingerprintOf(1)
  expect(sameFingerprint(undefined, one)).toBe(true)
  expect(sameFingerprint(one, undefined)).toBe(true)
  expect(sameFingerprint(one, one.slice(0, 4))).toBe(false)
  expect(
    sameFingerprint(
      one,
      Uint8Array.from(one, (byte, index) => (index === 7 ? byte ^ 1 : byte)),
    ),
  ).toBe(false)
})
