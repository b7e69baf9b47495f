import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { IncomingMessage, OutgoingMessage } from '../contracts/index.ts'
import { packMessage, unpackMessage, unpackOutgoing } from './packed-message.ts'

/** Any UTF-16 at all: NUL, lone surrogates, control characters. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
  .map((units) => String.fromCharCode(...units))
const name = fc.oneof(anyText, fc.constantFrom('__proto__', 'constructor', 'toString', '1', ''))
const headers = fc
  .array(fc.tuple(name, anyText), { maxLength: 5 })
  .map((pairs) => Object.fromEntries(pairs) as Record<string, string>)
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const body = fc.uint8Array({ maxLength: 30 })
const time = fc.date({ noInvalidDate: true })

const incoming: fc.Arbitrary<IncomingMessage> = fc.record({
  id: optional(anyText),
  type: optional(anyText),
  key: optional(anyText),
  position: optional(anyText),
  sentAt: optional(time),
  expiresAt: optional(time),
  source: anyText,
  headers,
  body,
})

const outgoing: fc.Arbitrary<OutgoingMessage> = fc.record({
  id: anyText,
  type: anyText,
  key: optional(anyText),
  sentAt: time,
  expiresAt: optional(time),
  headers,
  body,
})

test('any message comes back as it was', () => {
  fc.assert(
    fc.property(incoming, (message) => {
      const back = unpackMessage(packMessage(message))
      expect(back).toEqual(message)
      expect(Object.entries(back.headers)).toEqual(Object.entries(message.headers))
    }),
  )
})

test('so does any message on its way out', () => {
  fc.assert(
    fc.property(outgoing, (message) => {
      expect(unpackOutgoing(packMessage(message))).toEqual(message)
    }),
  )
})

test('a header called __proto__ is a header like any other', () => {
  const message = JSON.parse('{"source":"s","headers":{"__proto__":"x"}}')
  const back = unpackMessage(packMessage({ ...message, body: new Uint8Array() }))
  expect(Object.entries(back.headers)).toEqual([['__proto__', 'x']])
  expect(Object.getPrototypeOf(back.headers)).toBe(Object.prototype)
})

test('a time that is none is left out, not taken for 1970', () => {
  const none = new Date(Number.NaN)
  const message = { source: 's', headers: {}, body: new Uint8Array(), sentAt: none, expiresAt: none }
  const { sentAt, expiresAt } = unpackMessage(packMessage(message))
  expect([sentAt, expiresAt]).toEqual([undefined, undefined])
})

test('headers that are not text can be packed all the same: the message has to be kept before it is refused', () => {
  const soup = { count: 1n, list: [1, { a: 2n }], nothing: null, text: 'x' } as unknown as Record<string, string>
  const back = unpackMessage(packMessage({ source: 's', headers: soup, body: Uint8Array.of(1) }))
  expect(back.headers).toEqual({ count: '1', list: [1, { a: '2' }], nothing: null, text: 'x' })
})
