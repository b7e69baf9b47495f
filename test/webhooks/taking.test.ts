import { expect, test } from 'vitest'
import type { Delivery } from '../../src/contracts/index.ts'
import { fakeClock } from '../../src/testing/index.ts'
import { webhookTransport } from '../../src/transports/webhooks/index.ts'

/** A transport whose consumer takes only what a test asks for, on a clock that stands still. */
function openTaking(maxInFlight = 10) {
  const clock = fakeClock()
  const transport = webhookTransport({
    verify: () => true,
    identify: ({ headers }) => headers['x-id'],
    type: 'note.created',
    answerWithinMs: 5_000,
    clock,
  })
  const stopping = new AbortController()
  const reading = transport.deliveries({ signal: stopping.signal, maxInFlight })[Symbol.asyncIterator]()
  return {
    clock,
    transport,
    stop: () => stopping.abort(),
    next: async (): Promise<readonly Delivery[]> => {
      const { done, value } = await reading.next()
      return done ? [] : value
    },
    async send(id: string): Promise<[number, string]> {
      const request = new Request('http://localhost/', { method: 'POST', body: '{}', headers: { 'x-id': id } })
      const answer = await transport.handle(request)
      return [answer.status, (await answer.text()).trim()]
    },
  }
}

const idsOf = (deliveries: readonly Delivery[]) => deliveries.map(({ message }) => message.id)

test('what was not taken when the consumer stops is released at once, what was taken waits for it', async () => {
  const { transport, clock, next, send, stop } = openTaking()
  const first = next()
  const m1 = send('m1')
  const taken = await first
  expect(idsOf(taken)).toEqual(['m1'])
  const m2 = send('m2')
  await clock.advance(0)
  stop()
  expect(await m2).toEqual([503, 'released'])
  await transport.settle(taken, { kind: 'done' })
  expect(await m1).toEqual([200, 'done'])
  expect(await next()).toEqual([])
  expect(clock.waiting()).toBe(0)
})

test('what nobody has taken in time is not taken any more: its sender comes again', async () => {
  const { transport, clock, next, send } = openTaking()
  const first = next()
  const m1 = send('m1')
  const taken = await first
  const m2 = send('m2')
  await clock.advance(0)
  await clock.advance(5_000)
  expect([await m1, await m2]).toEqual([
    [503, 'not-settled-in-time'],
    [503, 'not-settled-in-time'],
  ])
  const second = next()
  const m3 = send('m3')
  const later = await second
  expect(idsOf(later)).toEqual(['m3'])
  await transport.settle([...taken, ...later], { kind: 'done' })
  expect(await m3).toEqual([200, 'done'])
  expect(clock.waiting()).toBe(0)
})

test('what is late but with a consumer still takes room, until it is settled', async () => {
  const { transport, clock, next, send } = openTaking(1)
  const first = next()
  const m1 = send('m1')
  const taken = await first
  await clock.advance(5_000)
  expect(await m1).toEqual([503, 'not-settled-in-time'])
  expect(await send('m2')).toEqual([503, 'too-many-in-flight'])
  await transport.settle(taken, { kind: 'done' })
  const second = next()
  const m2 = send('m2')
  await transport.settle(await second, { kind: 'release' })
  expect(await m2).toEqual([503, 'released'])
  expect(clock.waiting()).toBe(0)
})
