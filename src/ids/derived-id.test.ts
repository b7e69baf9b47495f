import fc from 'fast-check'
import { expect, test } from 'vitest'
import { derivedId } from './derived-id.ts'

const uuidV8 = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('the same cause has the same id, from version to version', () => {
  expect(derivedId(['tag-note', 'm1', 'note.tagged', '0'])).toBe(derivedId(['tag-note', 'm1', 'note.tagged', '0']))
  expect(derivedId(['a', 'b'])).toMatchInlineSnapshot(`"60d770c2-2284-828b-aca0-3a7e8e905386"`)
  expect(derivedId(['a', 'b'], new Date(1))).toMatchInlineSnapshot(`"00000000-0001-828b-aca0-3a7e8e905386"`)
})

test('different causes have different ids, however they are cut', () => {
  const cause = fc.array(fc.string(), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(cause, cause, (a, b) => {
      if (derivedId(a) === derivedId(b)) expect(a).toEqual(b)
    }),
  )
  expect(derivedId(['ab', 'c'])).not.toBe(derivedId(['a', 'bc']))
  expect(derivedId(['a', ''])).not.toBe(derivedId(['a']))
  expect(derivedId(['a,1:b'])).not.toBe(derivedId(['a', 'b']))
})

test('it begins with the time of its cause', () => {
  const at = new Date('2030-01-02T03:04:05.678Z')
  expect(Number.parseInt(derivedId(['a'], at).replaceAll('-', '').slice(0, 12), 16)).toBe(at.getTime())
})

test('it is a UUID for any time, also for one that does not fit or is none', () => {
  fc.assert(fc.property(fc.date(), (at) => uuidV8.test(derivedId(['a'], at))))
  expect(derivedId(['a'], new Date(Number.NaN))).toBe(derivedId(['a']))
  expect(derivedId(['a'], new Date(-1))).toBe(derivedId(['a']))
})
