import { request as httpRequest } from 'node:http'
import { expect, test } from 'vitest'
import { countParked } from '../../src/operations/index.ts'
import type { WebhookRequest } from '../../src/transports/webhooks/index.ts'
import { charge, openAnother, openHooks } from './open-hooks.ts'
import { stripeEvent, stripeHeaders } from './signing.ts'

const statusOf = ({ status }: Response): number => status

test('50 concurrent copies of one event have one effect, and all are answered with 200', async () => {
  const { app, post, charges } = await openHooks()
  app.on('charge.succeeded', 'charge', ({ id }, { tx }) => charge(tx, id))
  await app.start()
  const answers = await Promise.all(Array.from({ length: 50 }, () => post('evt_1')))
  expect(answers.map(statusOf)).toEqual(Array.from({ length: 50 }, () => 200))
  expect(charges()).toEqual({ evt_1: 1 })
})

test('copies that come to two processes at a time have one effect, and all are answered with 200', async () => {
  const one = await openHooks()
  const other = await openAnother(one.path)
  for (const { app } of [one, other]) app.on('charge.succeeded', 'charge', ({ id }, { tx }) => charge(tx, id))
  await Promise.all([one.app.start(), other.app.start()])
  const ids = Array.from({ length: 40 }, (_, index) => `evt_${index % 4}`)
  const answers = await Promise.all(ids.flatMap((id) => [one.post(id), other.post(id)]))
  expect(answers.map(statusOf)).toEqual(answers.map(() => 200))
  expect(one.charges()).toEqual({ evt_0: 1, evt_1: 1, evt_2: 1, evt_3: 1 })
})

test('a handler that fails: the message is kept, so the sender need not come again', async () => {
  const { app, post, charges, store } = await openHooks()
  app.on('charge.succeeded', { name: 'charge', retry: { attempts: 1 } }, ({ id }, { tx }) => {
    charge(tx, id)
    throw new Error('no such account')
  })
  await app.start()
  expect((await post('evt_1')).status).toBe(200)
  expect(charges()).toEqual({})
  expect(await countParked(store, { state: 'dead' })).toBe(1)
  expect((await post('evt_1')).status).toBe(200)
  expect(await countParked(store)).toBe(1)
})

test('while the database cannot be written the answer is 503, and the redelivery has the one effect', async () => {
  const { app, post, charges, database, refusals } = await openHooks({ answerWithinMs: 200 })
  app.on('charge.succeeded', 'charge', ({ id }, { tx }) => charge(tx, id))
  await app.start()
  database.exec('BEGIN EXCLUSIVE')
  const answers = await Promise.all([post('evt_1'), post('evt_1'), post('evt_2')])
  expect(answers.map(statusOf)).toEqual([503, 503, 503])
  expect(answers.map(({ headers }) => headers.get('retry-after'))).toEqual(['10', '10', '10'])
  expect(new Set(refusals.map(({ reason }) => reason))).toEqual(new Set(['not-settled-in-time']))
  database.exec('ROLLBACK')
  for (const id of ['evt_1', 'evt_2']) await expect.poll(async () => (await post(id)).status).toBe(200)
  expect(charges()).toEqual({ evt_1: 1, evt_2: 1 })
})

test('a sender that hangs up while its event is handled finds it done when it comes again', async () => {
  const { app, url, post, charges } = await openHooks()
  const begun = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  app.on('charge.succeeded', 'charge', async ({ id }, { tx }) => {
    begun.resolve()
    await goOn.promise
    charge(tx, id)
  })
  await app.start()
  const body = stripeEvent('evt_1')
  const request = httpRequest(url, { method: 'POST', headers: stripeHeaders(body) })
  request.on('error', () => {})
  request.end(body)
  await begun.promise
  request.destroy()
  goOn.resolve()
  expect((await post('evt_1')).status).toBe(200)
  expect(charges()).toEqual({ evt_1: 1 })
})

test('more than maxInFlight is answered with 503 at once, and there is room again afterwards', async () => {
  const { app, post, charges } = await openHooks({ maxInFlight: 1 })
  const goOn = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  app.on('charge.succeeded', 'charge', async ({ id }, { tx }) => {
    begun.resolve()
    await goOn.promise
    charge(tx, id)
  })
  await app.start()
  const running = post('evt_1')
  await begun.promise
  const refused = await Promise.all(['evt_2', 'evt_3', 'evt_1'].map((id) => post(id)))
  expect(refused.map(statusOf)).toEqual([503, 503, 503])
  expect(await refused[0]?.text()).toBe('too-many-in-flight\n')
  goOn.resolve()
  expect((await running).status).toBe(200)
  expect((await post('evt_2')).status).toBe(200)
  expect(charges()).toEqual({ evt_1: 1, evt_2: 1 })
})

test('before the app starts and after it has stopped the answer is 503', async () => {
  const { app, post, charges, refusals } = await openHooks()
  app.on('charge.succeeded', 'charge', ({ id }, { tx }) => charge(tx, id))
  expect((await post('evt_1')).status).toBe(503)
  await app.start()
  expect((await post('evt_1')).status).toBe(200)
  await app.stop()
  expect((await post('evt_2')).status).toBe(503)
  expect(refusals.map(({ reason }) => reason)).toEqual(['nobody-consumes', 'nobody-consumes'])
  expect(charges()).toEqual({ evt_1: 1 })
})

test('stopping while requests are under way: what runs is finished with 200, the rest is answered with 503', async () => {
  let verified = 0
  const verify = () => {
    verified++
    return true
  }
  const identify = (request: WebhookRequest) => (request.json() as { id: string }).id
  const { app, post, charges, refusals } = await openHooks({ verify, identify, type: 'charge.succeeded' })
  const goOn = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  app.on('charge.succeeded', 'charge', async ({ id }, { tx }) => {
    begun.resolve()
    await goOn.promise
    charge(tx, id)
  })
  await app.start()
  const running = post('evt_1')
  await begun.promise
  const waiting = ['evt_2', 'evt_3', 'evt_4'].map((id) => post(id))
  await expect.poll(() => verified).toBe(4)
  const stopped = app.stop()
  goOn.resolve()
  await stopped
  expect((await running).status).toBe(200)
  expect((await Promise.all(waiting)).map(statusOf)).toEqual([503, 503, 503])
  expect(new Set(refusals.map(({ reason }) => reason))).toEqual(new Set(['released']))
  expect(charges()).toEqual({ evt_1: 1 })
})
