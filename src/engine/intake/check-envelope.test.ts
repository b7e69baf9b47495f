import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { IncomingMessage } from '../../contracts/index.ts'
import type { JustonceError } from '../../errors/index.ts'
import { checkEnvelope, checkKey } from './check-envelope.ts'

const limits = { maxBodyBytes: 10, maxHeaderBytes: 20 }
const message = (changes: Partial<IncomingMessage>): IncomingMessage => ({
  id: 'm1',
  type: 't',
  source: 's',
  headers: {},
  body: new Uint8Array(),
  ...changes,
})

function refusalOf(changes: Partial<IncomingMessage>): JustonceError {
  try {
    checkEnvelope(message(changes), limits)
  } catch (error) {
    return error as JustonceError
  }
  throw new Error('it was not refused')
}

test.each(['a', ' ', 'a b', 'é', '😀', 'x'.repeat(255), '0', '__proto__'])('%s can be a key', (key) => {
  checkKey(key, 'it')
})

test.each([
  ['nothing', ''],
  ['too long', 'x'.repeat(256)],
  ['NUL', 'a\0b'],
  ['a line feed', 'a\nb'],
  ['DEL', 'a\u007fb'],
  ['half a pair', 'a\ud800'],
  ['a number', 5],
  ['null', null],
  ['an object', {}],
])('%s cannot be a key', (_, key) => {
  const error = refusalOf({ id: key as string })
  expect(error.code).toBe('MESSAGE_ID_INVALID')
  expect(error.message).toContain('The id of the message cannot be a key (')
  expect(error.message).toContain('Use 1 to 255 characters of well-formed text without control characters.')
})

test('the message shows the key, cut', () => {
  expect(refusalOf({ id: 'y'.repeat(300) }).message).toContain(`(300 characters: "${'y'.repeat(60)}")`)
  expect(refusalOf({ id: 'a\0b' }).message).toContain('"a\\u0000b"')
})

test('every key that passes is well-formed text of 1 to 255 characters without control characters', () => {
  const units = fc.array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0, max: 0x7f })), {
    maxLength: 5,
  })
  fc.assert(
    fc.property(units, (codes) => {
      const key = String.fromCharCode(...codes)
      const isRefused = codes.length === 0 || codes.some((code) => code < 32 || code === 127) || !key.isWellFormed()
      if (isRefused) expect(() => checkKey(key, 'it')).toThrow()
      else checkKey(key, 'it')
    }),
  )
})

test('a missing id is not the business of the envelope', () => {
  checkEnvelope(message({ id: undefined }), limits)
})

test('a body may be as large as the limit, and not larger', () => {
  checkEnvelope(message({ body: new Uint8Array(10) }), limits)
  const error = refusalOf({ body: new Uint8Array(11) })
  expect(error).toMatchObject({ code: 'BODY_TOO_LARGE', details: { bytes: 11, limit: 10 } })
  expect(error.message).toContain('The body has 11 bytes, the limit is 10.')
})

test('headers are counted in bytes, names and values', () => {
  checkEnvelope(message({ headers: { abcdefghij: '0123456789' } }), limits)
  expect(refusalOf({ headers: { abcdefghij: '0123456789', x: '' } }).message).toContain('have 21 bytes together')
  // Ten characters, thirty bytes.
  expect(refusalOf({ headers: { '': '€€€€€€€€€€' } }).code).toBe('HEADERS_INVALID')
})

test.each([
  ['number', 5],
  ['object', { nested: 'x' }],
  ['null', null],
  ['undefined', undefined],
  ['bigint', 5n],
])('a header that is %s is refused by its name', (kind, value) => {
  const error = refusalOf({ headers: { 'x-one': 'fine', 'x-two': value as unknown as string } })
  expect(error.code).toBe('HEADERS_INVALID')
  expect(error.message).toContain(`The header "x-two" is ${kind}, not text.`)
})
