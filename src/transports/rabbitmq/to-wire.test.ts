import { expect, test } from 'vitest'
import { toWire } from './to-wire.ts'

const rules = { queue: 'notes', source: 'justonce', publishTo: undefined, maxMessageBytes: 1_000 }
const message = { id: 'm1', type: 'note.created', body: Uint8Array.of(1), headers: {}, sentAt: new Date(0) }

test('the property content_type is what the message says of its body, and JSON where it says nothing', () => {
  expect(toWire(message, rules).options.contentType).toBe('application/json')
  const avro = { ...message, headers: { 'content-type': 'application/avro' } }
  expect(toWire(avro, rules).options.contentType).toBe('application/avro')
})

test('a content type that AMQP cannot carry is refused', () => {
  const long = { ...message, headers: { 'content-type': 'a'.repeat(256) } }
  expect(() => toWire(long, rules)).toThrow(/Message m1 has a content-type of more than 255 bytes/)
})
