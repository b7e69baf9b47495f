import { expect, test } from 'vitest'
import { WireMessages } from './wire-messages.ts'

/** Splits them again, as the server does: one byte of kind, then the length with itself, then the rest. */
function split(bytes: Buffer): { kind: string; content: Buffer }[] {
  const found: { kind: string; content: Buffer }[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readInt32BE(at + 1)
    found.push({ kind: bytes.toString('latin1', at, at + 1), content: bytes.subarray(at + 5, at + 1 + length) })
    at += 1 + length
  }
  return found
}

test('messages follow each other as the protocol wants them', () => {
  const messages = new WireMessages()
  messages.parse('s1', 'SELECT $1')
  messages.bind('s1', ['é', null, ''])
  messages.execute()
  messages.sync()
  expect(split(messages.bytes()).map(({ kind, content }) => [kind, content.toString('latin1')])).toEqual([
    ['P', 's1\0SELECT $1\0\0\0'],
    ['B', '\0s1\0\0\0\0\x03\0\0\0\x02Ã©\xff\xff\xff\xff\0\0\0\0\0\0'],
    ['E', '\0\0\0\0\0'],
    ['S', ''],
  ])
})

test('there is room for anything', () => {
  const messages = new WireMessages()
  const large = '😀'.repeat(100_000)
  messages.bind('s', [large, 'x'])
  messages.parse('', large)
  const [bind, parse] = split(messages.bytes())
  expect(bind?.content.includes(large)).toBe(true)
  expect(parse?.content.toString('utf8')).toBe(`\0${large}\0\0\0`)
})
