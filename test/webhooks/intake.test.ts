import { expect, test } from 'vitest'
import { justonce } from '../../src/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { queueTransport } from '../../src/transports/queue/index.ts'
import { type Refusal, stripeSignature, webhookIntake } from '../../src/transports/webhooks/index.ts'
import { serve } from './serve.ts'
import { secret, stripeEvent, stripeHeaders } from './signing.ts'

async function openIntake() {
  const store = sqliteStore({ path: ':memory:' })
  await store.schema.install()
  const queue = queueTransport({ store, queue: 'hooks' })
  const refusals: Refusal[] = []
  const intake = webhookIntake({
    verify: stripeSignature({ secret }),
    into: queue,
    onRefused: (refusal) => refusals.push(refusal),
  })
  const url = await serve(intake.nodeHandler)
  const post = (body: string) => fetch(url, { method: 'POST', body, headers: stripeHeaders(body) })
  return { store, queue, refusals, post }
}

test('it answers when the event is queued, long before anyone handles it, and copies have one effect', async () => {
  const { store, queue, post } = await openIntake()
  const answers = [await post(stripeEvent('evt_1')), await post(stripeEvent('evt_1')), await post(stripeEvent('evt_2'))]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  const app = justonce({ store, transport: queue })
  const handled: string[] = []
  const all = Promise.withResolvers<void>()
  let settled = 0
  app.events.listen(({ kind }) => {
    if ((kind === 'processed' || kind === 'duplicate') && ++settled === 3) all.resolve()
  })
  app.on('charge.succeeded', 'charge', ({ id, body, sentAt }) => {
    handled.push(`${id} ${(body as { object: string }).object} ${sentAt?.getTime()}`)
  })
  await app.start()
  await all.promise
  await app.stop()
  await store.close()
  expect(handled.sort()).toEqual(['evt_1 event 1700000000000', 'evt_2 event 1700000000000'])
})

test('while the queue cannot take it the answer is 503, and an event without a type is refused for good', async () => {
  const { store, post, refusals } = await openIntake()
  expect((await post(JSON.stringify({ id: 'evt_1' }))).status).toBe(400)
  await store.close()
  const answer = await post(stripeEvent('evt_1'))
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '10'])
  expect(refusals.map(({ reason }) => reason)).toEqual(['no-type', 'not-queued'])
})
