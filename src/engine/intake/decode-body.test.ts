import { expect, test } from 'vitest'
import type { JustonceError } from '../../errors/index.ts'
import { decodeBody } from './decode-body.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

function refusalOf(body: Uint8Array): JustonceError {
  try {
    decodeBody(body)
  } catch (error) {
    return error as JustonceError
  }
  throw new Error('it was not refused')
}

test.each(['null', '0', '"text"', '[]', '{"a":{"b":[1,"é😀"]}}'])('%s is JSON', (text) => {
  expect(decodeBody(bytes(text)).body).toEqual(JSON.parse(text))
})

test('a byte order mark does no harm', () => {
  expect(decodeBody(Uint8Array.of(0xef, 0xbb, 0xbf, 0x31)).body).toBe(1)
})

test.each([
  ['nothing', new Uint8Array()],
  ['half of it', bytes('{"open":')],
  ['two of it', bytes('{} {}')],
  ['something else', bytes('<xml/>')],
  ['bytes that are no UTF-8', Uint8Array.of(0x22, 0xff, 0x22)],
  ['UTF-16', Uint8Array.of(0x7b, 0, 0x7d, 0)],
])('%s is not JSON, and the message shows its beginning', (_, body) => {
  const error = refusalOf(body)
  expect(error.code).toBe('BODY_NOT_JSON')
  expect(error.message).toContain(`The body (${body.length} bytes, beginning `)
  expect(error.message).toContain('Publish JSON encoded as UTF-8')
  expect(error.cause).toBeInstanceOf(Error)
})

test.each([
  '{"__proto__":{"admin":true}}',
  '{"a":[{"b":{"__proto__":1}}]}',
  '{"\\u005f_proto__":1}',
  '{"_\\u005Fproto_\\u005f":1}',
])('%s is refused', (text) => {
  const error = refusalOf(bytes(text))
  expect(error.code).toBe('BODY_UNSAFE')
  expect(error.message).toContain('__proto__')
})

test.each(['{"text":"__proto__"}', '["__proto__"]', '{"a":"\\u0041"}', '{"constructor":{"prototype":1}}'])(
  '%s is harmless',
  (text) => {
    expect(decodeBody(bytes(text)).body).toEqual(JSON.parse(text))
  },
)
