import * as client from 'amqplib'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { outgoing, startReading } from '../../src/testing/reading.ts'
import { type RabbitmqTransportOptions, rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'
import { freePort } from '../servers/address.ts'
import { requireServer } from '../servers/require.ts'
import { queueName, withChannel } from './connect.ts'
import { createDatabase, watchedApp } from './counting.ts'

const rabbitmq = await requireServer('rabbitmq')

function open(options: Partial<RabbitmqTransportOptions> = {}) {
  const transport = rabbitmqTransport({ client, url: rabbitmq.url, queue: queueName(), ...options })
  onTestFinished(() => transport.close())
  return transport
}

async function firstOf(transport: ReturnType<typeof open>): Promise<unknown> {
  const iterator = transport.deliveries({ signal: new AbortController().signal, maxInFlight: 1 })
  return iterator[Symbol.asyncIterator]().next()
}

test.each([
  [{ queue: '' }, 'queue'],
  [{ url: 'http://localhost' }, 'amqp://'],
  [{ url: undefined }, 'connect'],
  [{ connect: async () => client.connect('amqp://localhost') }, 'instead'],
  [{ queueType: 'qorum' }, 'quorum'],
  [{ declare: { type: 'quorum', durable: false } }, 'durable'],
  [{ declare: { type: 'classic', deliveryLimit: 3 } }, 'quorum'],
  [{ declare: { arguments: { 'x-queue-type': 'stream' } } }, 'x-queue-type'],
  [{ deadLetterQueue: 'notes' }, 'itself'],
  [{ confirmTimeoutMs: Number.NaN }, 'confirmTimeoutMs'],
])('options that make no sense: %o', (options, hint) => {
  const given = { client, url: 'amqp://guest:secret@localhost', queue: 'notes', ...options } as RabbitmqTransportOptions
  expect(() => rabbitmqTransport(given)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }))
  expect(() => rabbitmqTransport(given)).toThrow(hint)
})

test('a misspelt option is named', () => {
  const given = { client, url: 'amqp://localhost', queue: 'notes', prefech: 3 } as RabbitmqTransportOptions
  expect(() => rabbitmqTransport(given)).toThrow(expect.objectContaining({ code: 'OPTION_UNKNOWN' }))
})

describe.skipIf(!rabbitmq.available)('RabbitMQ', () => {
  test('nobody listens there: reading and publishing say so', async () => {
    const transport = open({ url: `amqp://guest:secret@127.0.0.1:${await freePort()}` })
    const failure = { code: 'BROKER_UNREACHABLE', message: expect.not.stringContaining('secret') }
    await expect(firstOf(transport)).rejects.toMatchObject(failure)
    await expect(transport.publish([outgoing('m1')])).rejects.toMatchObject(failure)
  })

  test('a wrong password is refused, and not shown', async () => {
    const transport = open({ url: rabbitmq.url.replace('guest:guest', 'guest:secret') })
    const failure = { code: 'BROKER_REFUSED', message: expect.stringMatching(/ACCESS.REFUSED(?!.*secret)/) }
    await expect(firstOf(transport)).rejects.toMatchObject(failure)
    await expect(transport.publish([outgoing('m1')])).rejects.toMatchObject(failure)
  })

  test('a virtual host that is not there is said to be what is wrong', async () => {
    const transport = open({ url: `${rabbitmq.url}/nowhere` })
    const failure = { code: 'BROKER_REFUSED', message: expect.stringContaining('virtual host') }
    await expect(firstOf(transport)).rejects.toMatchObject(failure)
    await expect(transport.publish([outgoing('m1')])).rejects.toMatchObject(failure)
  })

  test('a right that is missing is said to be what is wrong', async () => {
    const transport = open({ queue: 'amq.reserved', declare: { type: 'classic' } })
    const failure = { code: 'BROKER_REFUSED', message: expect.stringContaining('ACCESS_REFUSED') }
    await expect(firstOf(transport)).rejects.toMatchObject(failure)
  })

  test('a queue that does not exist is named, and what is published to it is refused', async () => {
    const transport = open({ queue: 'missing' })
    await expect(firstOf(transport)).rejects.toMatchObject({
      code: 'BROKER_SETUP',
      message: expect.stringContaining('missing'),
    })
    expect(await transport.publish([outgoing('m1')])).toMatchObject([
      { kind: 'refused', error: { code: 'PUBLISH_REFUSED' } },
    ])
  })

  test('a queue that is declared here and was deleted is there again for what is published next', async () => {
    const queue = queueName()
    const transport = open({ queue, declare: {} })
    expect(await transport.publish([outgoing('m1')])).toEqual([{ kind: 'sent' }])
    await withChannel(rabbitmq.url, (channel) => channel.deleteQueue(queue))
    expect(await transport.publish([outgoing('m2')])).toMatchObject([{ kind: 'refused' }])
    await vi.waitFor(async () => expect(await transport.publish([outgoing('m2')])).toEqual([{ kind: 'sent' }]))
    // Somebody has made another one of it.
    await withChannel(rabbitmq.url, (channel) => channel.deleteQueue(queue))
    expect(await transport.publish([outgoing('m3')])).toMatchObject([{ kind: 'refused' }])
    await withChannel(rabbitmq.url, (channel) => channel.assertQueue(queue))
    // The broker closes the channel on which the first declares, and the second waits for a confirmation there.
    const both = await Promise.allSettled([transport.publish([outgoing('m3')]), transport.publish([outgoing('m4')])])
    const reason = { code: 'BROKER_SETUP' }
    expect(both).toMatchObject([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ])
  })

  test('a queue that is set up differently is named', async () => {
    const queue = queueName()
    await open({ queue, declare: { type: 'classic' } }).publish([outgoing('m1')])
    await expect(firstOf(open({ queue, declare: { type: 'quorum' } }))).rejects.toMatchObject({ code: 'BROKER_SETUP' })
  })

  test('a queue that is deleted while it is read is named', async () => {
    const queue = queueName()
    const transport = open({ queue, declare: { type: 'classic' } })
    await transport.publish([outgoing('m1')])
    const reader = open({ queue })
    const reading = startReading({ connect: async () => reader, close: async () => {} }, reader)
    await reading.take(1)
    await withChannel(rabbitmq.url, (channel) => channel.deleteQueue(queue))
    await expect(reading.next()).rejects.toMatchObject({ code: 'BROKER_SETUP' })
  })

  test('an exchange that does not exist is named, and nothing is lost', async () => {
    const transport = open({ declare: {}, publishTo: { exchange: 'missing' } })
    await expect(transport.publish([outgoing('m1')])).rejects.toMatchObject({ code: 'BROKER_SETUP' })
  })

  test('in a bulk only what no queue wants, is too large or cannot be encoded is refused', async () => {
    const queue = queueName()
    const routingKey = ({ type }: { readonly type: string }): string => (type === 'nowhere' ? 'missing' : queue)
    const transport = open({ queue, declare: {}, publishTo: { exchange: '', routingKey }, maxMessageBytes: 1_000 })
    const results = await transport.publish([
      outgoing('m1'),
      outgoing('m2', { type: 'nowhere' }),
      outgoing('m2', { type: 'nowhere' }),
      outgoing('m3', { body: new Uint8Array(1_001) }),
      outgoing('m4', { headers: { large: 'x'.repeat(130_000) } }),
      outgoing('m5', { headers: { ['n'.repeat(256)]: '' } }),
      outgoing('m6', { sentAt: new Date(Number.NaN) }),
      outgoing('m7', { headers: { CC: 'missing', 'x-death': 'none' } }),
    ])
    expect(results.map(({ kind }) => kind).join(' ')).toBe('sent refused refused refused refused refused refused sent')
    for (const result of results)
      if (result.kind === 'refused') expect(result.error).toMatchObject({ code: 'PUBLISH_REFUSED' })
    const reading = startReading({ connect: async () => transport, close: async () => {} }, transport)
    const [, last] = await reading.take(2)
    expect(last?.message.headers).toMatchObject({ CC: 'missing', 'x-death': 'none' })
  })

  test('what no queue wants is refused, also when its address does not survive the way to the broker and back', async () => {
    const transport = open({ declare: {}, publishTo: { exchange: 'amq.topic' } })
    // As text that was cut in the middle of a character.
    const results = await transport.publish([outgoing('m1', { type: 'nowhere.\ud83d' }), outgoing('m2\ud83d')])
    expect(results).toMatchObject([{ kind: 'refused' }, { kind: 'refused' }])
  })

  test('a full queue that refuses: so does publishing', async () => {
    const transport = open({
      declare: { type: 'classic', arguments: { 'x-max-length': 1, 'x-overflow': 'reject-publish' } },
    })
    const results = await transport.publish([outgoing('m1'), outgoing('m2')])
    const error = { code: 'PUBLISH_REFUSED' }
    expect(results).toMatchObject([{ kind: 'sent' }, { kind: 'refused', error, isPassing: true }])
  })

  test('messages that nobody can handle become dead letters, and the others are handled', async () => {
    const queue = queueName()
    const transport = open({ queue, declare: {} })
    const { app, events, until } = watchedApp(await createDatabase(), transport)
    const json = Buffer.from('{}')
    await transport.publish([outgoing('first')])
    await withChannel(rabbitmq.url, async (channel) => {
      const type = 'note.created'
      channel.sendToQueue(queue, json, { type })
      channel.sendToQueue(queue, json, { messageId: 'typeless' })
      channel.sendToQueue(queue, json, { messageId: 'unknown', type: 'never.heard' })
      channel.sendToQueue(queue, Buffer.alloc(0), { type, messageId: 'empty' })
      channel.sendToQueue(queue, Buffer.from([0xff, 0x00, 0xfe]), { type, messageId: 'binary' })
      channel.sendToQueue(queue, Buffer.from('<a/>'), { type, messageId: 'xml', contentType: 'text/xml' })
      channel.sendToQueue(queue, json, { type, messageId: 'plain', headers: { n: 1, deep: { a: [null, true] } } })
      await channel.waitForConfirms()
    })
    await app.start()
    await until((all) => all.filter(({ kind }) => kind === 'parked' || kind === 'processed').length >= 8, 'eight ends')
    const reasons = events.flatMap((event) => (event.kind === 'parked' ? [event.reason] : []))
    expect(reasons.sort()).toEqual([
      'BODY_NOT_JSON',
      'BODY_NOT_JSON',
      'BODY_NOT_JSON',
      'MESSAGE_ID_MISSING',
      'MESSAGE_TYPE_MISSING',
      'TYPE_UNKNOWN',
    ])
    expect(events.flatMap((event) => (event.kind === 'processed' ? [event.key] : [])).sort()).toEqual([
      'first',
      'plain',
    ])
  })

  test('a stream is said to be none of the queues that can be read', async () => {
    const queue = queueName()
    await withChannel(rabbitmq.url, (channel) =>
      channel.assertQueue(queue, { arguments: { 'x-queue-type': 'stream' } }),
    )
    const { app, events } = watchedApp(await createDatabase(), open({ queue }))
    await app.start()
    await withChannel(rabbitmq.url, async (channel) => {
      // It begins with what comes after the consumer.
      while (events.filter(({ kind }) => kind === 'processed').length < 2) {
        channel.sendToQueue(queue, Buffer.from('{}'), { type: 'note.created', messageId: queueName('m') })
        await channel.waitForConfirms()
      }
    })
    const notices = events.filter(({ kind }) => kind === 'transport-notice')
    expect(notices).toMatchObject([{ code: 'BROKER_SETUP', message: expect.stringContaining('stream') }])
  })

  test('ids that are numbers too large for the client are not taken for one id', async () => {
    const queue = queueName()
    const transport = open({ queue, declare: {} })
    const { app, events, until } = watchedApp(await createDatabase(), transport)
    // Only when it has taken something is a new queue there for everybody.
    await transport.publish([outgoing('first')])
    await withChannel(rabbitmq.url, async (channel) => {
      for (const value of [1_234_567_890_123_456_768n, 1_234_567_890_123_456_769n]) {
        const headers = { 'cloudEvents:id': { '!': 'int64', value } }
        channel.sendToQueue(queue, Buffer.from('{}'), { type: 'note.created', headers })
      }
      await channel.waitForConfirms()
    })
    await app.start()
    await until((all) => all.filter(({ kind }) => endings.has(kind)).length >= 3, 'three ends')
    const ends = events.filter(({ kind }) => endings.has(kind))
    expect(ends.map((event) => ('reason' in event ? event.reason : event.kind)).sort()).toEqual([
      'MESSAGE_ID_MISSING',
      'MESSAGE_ID_MISSING',
      'processed',
    ])
  })

  test('ids that are null are not taken for one id: it is the property that counts', async () => {
    const queue = queueName()
    const transport = open({ queue, declare: {} })
    const { app, events, until } = watchedApp(await createDatabase(), transport)
    await transport.publish([outgoing('first')])
    await withChannel(rabbitmq.url, async (channel) => {
      for (const messageId of ['m1', 'm2', 'm3']) {
        const headers = { 'cloudEvents:id': null, 'cloudEvents:partitionkey': null }
        channel.sendToQueue(queue, Buffer.from('{}'), { type: 'note.created', messageId, headers })
      }
      await channel.waitForConfirms()
    })
    await app.start()
    await until((all) => all.filter(({ kind }) => endings.has(kind)).length >= 4, 'four ends')
    const ends = events.filter(({ kind }) => endings.has(kind))
    expect(ends.map((event) => ('key' in event ? event.key : event.kind)).sort()).toEqual(['first', 'm1', 'm2', 'm3'])
  })
})

const endings: ReadonlySet<string> = new Set(['processed', 'duplicate', 'parked'])
