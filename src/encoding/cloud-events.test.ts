import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { OutgoingMessage } from '../contracts/index.ts'
import { cloudEventHeaders, readCloudEvent, readStructured } from './cloud-events.ts'

const message: OutgoingMessage = {
  id: 'm1',
  type: 'note.created',
  body: new Uint8Array(),
  headers: { tenant: 'a' },
  key: 'k',
  sentAt: new Date('2030-01-01T00:00:00Z'),
  expiresAt: new Date('2030-01-02T00:00:00Z'),
}

test('attributes are headers with the prefix of their wire', () => {
  expect(cloudEventHeaders(message, 'notes', 'ce_')).toEqual({
    tenant: 'a',
    ce_specversion: '1.0',
    ce_id: 'm1',
    ce_type: 'note.created',
    ce_source: 'notes',
    ce_time: '2030-01-01T00:00:00.000Z',
    ce_partitionkey: 'k',
    ce_expirytime: '2030-01-02T00:00:00.000Z',
  })
})

test('what was written is read again, on every wire, and nothing else is taken for it', () => {
  const text = fc.string({ minLength: 1, maxLength: 30 })
  const prefixes = fc.constantFrom('ce_' as const, 'ce-' as const, 'cloudEvents:' as const)
  fc.assert(
    fc.property(text, text, fc.option(text, { nil: undefined }), prefixes, (id, type, key, prefix) => {
      const { expiresAt: _, ...lasting } = message
      const read = readCloudEvent(cloudEventHeaders({ ...lasting, id, type, key }, '/justonce/s', prefix), prefix)
      expect(read).toEqual({ id, type, key, sentAt: message.sentAt, expiresAt: undefined, headers: { tenant: 'a' } })
    }),
  )
})

test('plain headers say nothing, and a time that is none is not there', () => {
  expect(readCloudEvent({ tenant: 'a', ce_time: 'soon' }, 'ce_')).toEqual({
    id: undefined,
    type: undefined,
    key: undefined,
    sentAt: undefined,
    expiresAt: undefined,
    headers: { tenant: 'a' },
  })
})

test('the case of a header does not matter', () => {
  expect(readCloudEvent({ 'Ce-Id': 'm1', 'CE-Type': 't' }, 'ce-')).toMatchObject({ id: 'm1', type: 't', headers: {} })
})

test('attributes that a message has no place for are ce- headers on every wire, there and back', () => {
  const headers = { 'ce-subject': 'note 1', 'ce-source': '/shop', 'ce-tenant': 'a', traceparent: '00-1-2-03' }
  for (const prefix of ['ce_', 'ce-', 'cloudEvents:'] as const) {
    const sent = cloudEventHeaders({ ...message, headers }, '/justonce/x', prefix)
    expect(sent).toMatchObject({ [`${prefix}subject`]: 'note 1', [`${prefix}source`]: '/shop', [`${prefix}id`]: 'm1' })
    expect(readCloudEvent(sent, prefix).headers).toEqual(headers)
  }
})

test('attributes of the message itself cannot be replaced by headers', () => {
  const sent = cloudEventHeaders({ ...message, headers: { 'ce-id': 'other', 'ce-type': 'other' } }, 's', 'ce_')
  expect(sent).toMatchObject({ ce_id: 'm1', ce_type: 'note.created' })
})

const structured = (event: unknown, type = 'application/cloudevents+json; charset=utf-8') =>
  readStructured({ 'Content-Type': type, tenant: 'a' }, Buffer.from(JSON.stringify(event)))

test('an event in structured mode is read from the body', () => {
  const event = {
    specversion: '1.0',
    id: 'm1',
    type: 't',
    source: '/shop',
    time: '2030-01-01T00:00:00Z',
    partitionkey: 'k',
  }
  const read = structured({ ...event, data: { n: 1 }, subject: 's', traceparent: '00-1-2-03', sequence: 5 })
  expect({ ...read, body: String(read?.body) }).toEqual({
    id: 'm1',
    type: 't',
    key: 'k',
    sentAt: new Date('2030-01-01T00:00:00Z'),
    expiresAt: undefined,
    headers: {
      'ce-source': '/shop',
      'ce-subject': 's',
      'ce-sequence': '5',
      traceparent: '00-1-2-03',
      tenant: 'a',
      'content-type': 'application/json',
    },
    body: '{"n":1}',
  })
})

test('its data may be text, bytes, or missing', () => {
  const bodyOf = (event: object) => String(structured({ id: 'm1', type: 't', ...event })?.body)
  expect(bodyOf({ data: '<a/>', datacontenttype: 'application/xml' })).toBe('<a/>')
  expect(bodyOf({ data: 'a' })).toBe('"a"')
  expect(bodyOf({ data_base64: 'AAEC' })).toBe('\u0000\u0001\u0002')
  expect(bodyOf({})).toBe('null')
})

test('what is no event in structured mode is left alone', () => {
  expect(structured({ id: 'm1' }, 'application/json')).toBe(undefined)
  expect(structured([{ id: 'm1' }], 'application/cloudevents-batch+json')).toBe(undefined)
  expect(structured(['m1'])).toBe(undefined)
  expect(readStructured({ 'content-type': 'application/cloudevents+json' }, Buffer.from('{'))).toBe(undefined)
})

test('an attribute in another case counts only where the right one is missing: it must not give two messages one id', () => {
  const both = { 'cloudEvents:id': 'm1', 'CLOUDEVENTS:ID': 'customer', 'cloudEvents:Type': 't' }
  expect(readCloudEvent(both, 'cloudEvents:')).toMatchObject({ id: 'm1', type: 't' })
  const turned = { CE_ID: 'customer', ce_id: 'm1' }
  expect(readCloudEvent(turned, 'ce_')).toMatchObject({ id: 'm1' })
  const headers = { 'content-type': 'application/cloudevents+json' }
  const read = (event: string) => readStructured(headers, Buffer.from(event))
  expect(read('{"id":"m1","ID":"customer","type":"t","source":"/s"}')).toMatchObject({ id: 'm1' })
  expect(read('{"ID":"customer","id":"m1","type":"t","source":"/s"}')).toMatchObject({ id: 'm1' })
  expect(read('{"ID":"m1","Type":"t","source":"/s"}')).toMatchObject({ id: 'm1', type: 't' })
})

test('a number that JSON cannot hold exactly is no id: two ids could become one', () => {
  const headers = { 'content-type': 'application/cloudevents+json' }
  const idIn = (id: string) => readStructured(headers, Buffer.from(`{"id":${id},"type":"t","source":"/s"}`))?.id
  expect([idIn('12345678901234567891'), idIn('1e400'), idIn('7')]).toEqual([undefined, undefined, '7'])
})

test('numbers in the data are what was sent: two events that differ in one must not become one message', () => {
  const headers = { 'content-type': 'application/cloudevents+json' }
  const bodyOf = (data: string) => {
    return String(readStructured(headers, Buffer.from(`{"id":"m1","type":"t","source":"/s","data":${data}}`))?.body)
  }
  for (const data of ['{"order":9007199254740993}', '[1e400,-1e400]', '0.12345678901234567891', '1e-400'])
    expect(bodyOf(data)).toBe(data)
  expect(bodyOf('{ "n": 1.50, "m": 1e2, "t": "9007199254740993" }')).toBe('{"n":1.5,"m":100,"t":"9007199254740993"}')
})

test('a number with more digits than JavaScript holds is no id, and stays itself in every other attribute', () => {
  const headers = { 'content-type': 'application/cloudevents+json' }
  const read = (id: string) => readStructured(headers, Buffer.from(`{"id":${id},"type":"t","source":"/s","x":[${id}]}`))
  expect(read('0.12345678901234567')?.id).toBe(undefined)
  expect(read('12345678901234567891')?.headers['ce-x']).toBe('[12345678901234567891]')
})

test('an event that is nested a hundred thousand levels deep is read or left alone', () => {
  const headers = { 'content-type': 'application/cloudevents+json' }
  const deep = (inner: string) => `${'['.repeat(100_000)}${inner}${']'.repeat(100_000)}`
  const event = (data: string) => Buffer.from(`{"id":"m1","type":"t","source":"/s","data":${data},"x":1}`)
  for (const inner of ['1', '1e400']) expect(() => readStructured(headers, event(deep(inner)))).not.toThrow()
})
