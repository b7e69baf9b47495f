import { expect, test } from 'vitest'
import type { TransportNotice } from '../../src/driver.ts'
import { rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'

/** What is said when reading begins; there is no broker, and none is needed for that. */
async function noticesOf(changes: object): Promise<readonly string[]> {
  const notices: TransportNotice[] = []
  const connect = () => Promise.reject(new Error('there is no broker here'))
  const transport = rabbitmqTransport({ connect, queue: 'notes', ...changes })
  const reading = { signal: new AbortController().signal, maxInFlight: 1, notice: notices.push.bind(notices) }
  await transport
    .deliveries(reading)
    [Symbol.asyncIterator]()
    .next()
    .catch(() => {})
  await transport.close()
  return notices.map(({ code }) => code)
}

test('a delivery limit without a place for what is given up is said when reading begins', async () => {
  expect(await noticesOf({ declare: { deliveryLimit: 5 } })).toEqual(['MESSAGES_MAY_BE_DROPPED'])
  expect(await noticesOf({ declare: { arguments: { 'x-delivery-limit': 5 } } })).toEqual(['MESSAGES_MAY_BE_DROPPED'])
})

test('with a dead-letter queue or exchange, without a limit, or undeclared there is nothing to say', async () => {
  expect(await noticesOf({ declare: { deliveryLimit: 5 }, deadLetterQueue: 'notes-dead' })).toEqual([])
  expect(await noticesOf({ declare: { deliveryLimit: 5, arguments: { 'x-dead-letter-exchange': 'x' } } })).toEqual([])
  expect(await noticesOf({ declare: {} })).toEqual([])
  expect(await noticesOf({})).toEqual([])
})

test('what was not begun goes back before the broker would close the channel', () => {
  const connect = () => Promise.reject(new Error('there is no broker here'))
  expect(rabbitmqTransport({ connect, queue: 'notes' }).inFlight).toEqual({ ageMs: 900_000 })
  expect(rabbitmqTransport({ connect, queue: 'notes', consumerTimeoutMs: 60_000 }).inFlight).toEqual({ ageMs: 30_000 })
})
