import { expect, test } from 'vitest'
import type { AmqpMessage } from './client-shapes.ts'
import { toDelivery } from './to-delivery.ts'

const shape = { source: 'rabbitmq:notes', inOrder: false, routingKeyAsType: false }

function arrived(properties: AmqpMessage['properties'], routingKey = 'notes'): AmqpMessage {
  const fields = { deliveryTag: 1, redelivered: false, exchange: '', routingKey }
  return { content: Buffer.from('{}'), fields, properties }
}

test('a plain message is read from its properties', () => {
  const { message } = toDelivery(
    arrived({ messageId: 'm1', type: 'note.created', timestamp: 1_767_225_600, correlationId: 'c1' }),
    shape,
  )
  expect(message).toMatchObject({ id: 'm1', type: 'note.created', sentAt: new Date('2026-01-01T00:00:00Z') })
  expect(message.headers).toEqual({ 'correlation-id': 'c1' })
})

test('CloudEvents are read in either spelling, and win over properties', () => {
  const headers = { 'cloudEvents:id': 'e1', cloudEvents_type: 'note.changed', 'cloudEvents:partitionkey': 'a' }
  const { message } = toDelivery(arrived({ messageId: 'm1', type: 'note.created', headers }), shape)
  expect(message).toMatchObject({ id: 'e1', type: 'note.changed', key: 'a', headers: {} })
})

test('properties of another kind count as missing', () => {
  const { message } = toDelivery(arrived({ messageId: 7, type: '', timestamp: Number.NaN }), shape)
  expect([message.id, message.type, message.sentAt]).toEqual([undefined, undefined, undefined])
})

test('headers that are not text become JSON', () => {
  const headers = {
    number: 3,
    truth: true,
    nothing: null,
    bytes: Buffer.from('hi'),
    time: { '!': 'timestamp', value: 1_767_225_600 },
    table: { list: [1, { '!': 'timestamp', value: 0 }] },
  }
  expect(toDelivery(arrived({ headers }), shape).message.headers).toEqual({
    number: '3',
    truth: 'true',
    nothing: 'null',
    bytes: 'aGk=',
    time: '2026-01-01T00:00:00.000Z',
    table: '{"list":[1,"1970-01-01T00:00:00.000Z"]}',
  })
})

test('a header that is nested too deeply to be read is left out', () => {
  let deep: unknown = 'end'
  for (let level = 0; level < 100_000; level++) deep = [deep]
  const { message } = toDelivery(arrived({ messageId: 'm1', headers: { deep, flat: 'yes' } }), shape)
  expect(message).toMatchObject({ id: 'm1', headers: { flat: 'yes' } })
  expect(Object.keys(message.headers)).toEqual(['flat'])
})

test('a number that the client has rounded is left out, for another one would look the same', () => {
  const rounded = Number(9_007_199_254_740_993n)
  const headers = {
    'cloudEvents:id': rounded,
    table: { list: [rounded] },
    time: { '!': 'timestamp', value: rounded },
    largest: Number.MAX_SAFE_INTEGER,
    real: 0.1,
  }
  const { message } = toDelivery(arrived({ messageId: 'm1', headers }), shape)
  expect(message).toMatchObject({ id: 'm1', headers: { largest: '9007199254740991', real: '0.1' } })
  expect(Object.keys(message.headers)).toEqual(['largest', 'real'])
})

test('an id that was no text on the wire counts as missing, for all such look the same', () => {
  const bytes = Buffer.from([0x6d, 0xc3, 0x28, 0xff]).toString()
  const ids = (headers: Record<string, unknown>, messageId: string) =>
    toDelivery(arrived({ messageId, headers }), shape).message.id
  expect(ids({}, bytes)).toBeUndefined()
  expect(ids({ 'cloudEvents:id': bytes }, 'm1')).toBe('m1')
})

test('an attribute without a value, or with one that JSON does not have, counts as missing: all of them would be one id and one key', () => {
  for (const nothing of [null, Number.NaN, Number.POSITIVE_INFINITY, [Number.NaN]]) {
    const headers = { 'cloudEvents:id': nothing, cloudEvents_type: nothing, 'cloudEvents:partitionkey': nothing }
    const { message } = toDelivery(arrived({ messageId: 'm1', type: 'note.created', headers }), shape)
    expect(message).toMatchObject({ id: 'm1', type: 'note.created', key: undefined, headers: {} })
  }
})

test('the count of a quorum queue includes this delivery and is no header of the message', () => {
  const { count, message } = toDelivery(arrived({ headers: { 'x-delivery-count': 2 } }), shape)
  expect([count, message.headers]).toEqual([3, {}])
})

test('the routing key is the type only where that is wanted and nothing else names one', () => {
  const wanted = { ...shape, routingKeyAsType: true }
  expect(toDelivery(arrived({}, 'note.created'), shape).message.type).toBeUndefined()
  expect(toDelivery(arrived({}, 'note.created'), wanted).message.type).toBe('note.created')
  expect(toDelivery(arrived({ type: 'other' }, 'note.created'), wanted).message.type).toBe('other')
})

test('in order: one lane for each key, and one for what has none', () => {
  const lanes = { ...shape, inOrder: true }
  expect(toDelivery(arrived({ headers: { 'cloudEvents:partitionkey': 'a' } }), lanes).lane).toBe('rabbitmq:notes/a')
  expect(toDelivery(arrived({}), lanes).lane).toBe('rabbitmq:notes')
})
