import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { expect, test } from 'vitest'
import { countParked } from '../../src/operations/index.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { githubSignature } from '../../src/transports/webhooks/index.ts'
import { charge, openHooks } from './open-hooks.ts'
import { hmac, nowSeconds, secret, stripeEvent, stripeHeaders } from './signing.ts'

async function openCharging(options: Parameters<typeof openHooks>[0] = {}) {
  const hooks = await openHooks(options)
  hooks.app.on('charge.succeeded', 'charge', ({ id }, { tx }) => charge(tx, id))
  await hooks.app.start()
  return hooks
}

test('200 means committed: the effect is there when the answer comes', async () => {
  const { post, charges } = await openCharging()
  const answer = await post('evt_1')
  expect([answer.status, await answer.text()]).toEqual([200, 'done\n'])
  expect(charges()).toEqual({ evt_1: 1 })
})

test('a redelivery is answered with 200 and has no second effect', async () => {
  const { post, charges, events } = await openCharging()
  const answers = [await post('evt_1'), await post('evt_1'), await post('evt_1')]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(charges()).toEqual({ evt_1: 1 })
  expect(events.filter(({ kind }) => kind === 'duplicate')).toHaveLength(2)
})

test('what is not genuine never reaches a handler', async () => {
  const { url, charges, refusals, post } = await openCharging()
  const body = stripeEvent('evt_1')
  const send = async (headers: Record<string, string>, sent = body) => {
    const answer = await fetch(url, { method: 'POST', body: sent, headers })
    return [answer.status, (await answer.text()).trim()]
  }
  expect(await send({})).toEqual([401, 'signature-wrong'])
  expect(await send(stripeHeaders(body, nowSeconds(), 'whsec_wrong'))).toEqual([401, 'signature-wrong'])
  expect(await send(stripeHeaders(body), stripeEvent('evt_2'))).toEqual([401, 'signature-wrong'])
  expect(await send(stripeHeaders(body, nowSeconds() - 3_600))).toEqual([401, 'signature-too-old'])
  expect(charges()).toEqual({})
  expect(refusals.map(({ reason }) => reason)).toHaveLength(4)
  expect((await post('evt_1')).status).toBe(200)
})

test('headers that the signature does not cover cannot give a copy another id or type', async () => {
  const { url, charges } = await openCharging()
  const body = stripeEvent('evt_1')
  const injected = { 'ce-id': 'evt_2', 'ce-type': 'other', 'x-github-delivery': 'evt_3', 'webhook-id': 'evt_4' }
  for (const headers of [stripeHeaders(body), { ...stripeHeaders(body), ...injected }]) {
    expect((await fetch(url, { method: 'POST', body, headers })).status).toBe(200)
  }
  expect(charges()).toEqual({ evt_1: 1 })
})

test('the same id with other content is kept as a dead letter, and answered with 200', async () => {
  const { post, charges, store } = await openCharging()
  await post('evt_1', { amount: 1 })
  expect((await post('evt_1', { amount: 2 })).status).toBe(200)
  expect(charges()).toEqual({ evt_1: 1 })
  expect(await countParked(store, { state: 'dead' })).toBe(1)
})

test('a wrong method, a wrong path and a missing id are answered for good', async () => {
  const { url } = await openCharging({ path: '/hooks/stripe' })
  const get = await fetch(`${url}/hooks/stripe`)
  expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST'])
  const body = JSON.stringify({ type: 'charge.succeeded' })
  const post = (path: string) => fetch(`${url}${path}`, { method: 'POST', body, headers: stripeHeaders(body) })
  expect((await post('/hooks/other')).status).toBe(404)
  expect((await post('/hooks/stripe/')).status).toBe(404)
  const answer = await post('/hooks/stripe?from=stripe')
  expect([answer.status, await answer.text()]).toEqual([400, 'no-id\n'])
})

test('a request that names its whole address, as through a proxy, is for the same path', async () => {
  const { url, charges } = await openCharging({ path: '/hooks/stripe' })
  const body = stripeEvent('evt_1')
  const given = { method: 'POST', path: 'http://example.com/hooks/stripe', headers: stripeHeaders(body) }
  const request = httpRequest(url, given).end(body)
  const [response] = await once(request, 'response')
  response.resume()
  expect(response.statusCode).toBe(200)
  expect(charges()).toEqual({ evt_1: 1 })
})

test('the raw bytes and the headers arrive, without credentials', async () => {
  const { url, app } = await openHooks({ verify: () => true, type: 'raw', identify: () => 'm1' })
  app.on('raw', 'look', () => {})
  await app.start()
  const body = Uint8Array.from({ length: 256 }, (_, index) => index)
  const headers = { authorization: 'Bearer x', cookie: 'session=x', 'x-plain': 'value' }
  expect((await fetch(url, { method: 'POST', body, headers })).status).toBe(200)
  // It is no JSON: it is kept as it came, for somebody to look at.
  const [letter] = await app.operations.letters.list()
  expect(letter?.body).toEqual(body)
  expect(letter?.headers).toMatchObject({ 'x-plain': 'value' })
  expect(JSON.stringify(letter?.headers)).not.toMatch(/Bearer|session/)
})

test('GitHub names its deliveries and events in headers', async () => {
  const { url, app, charges } = await openHooks({ verify: githubSignature({ secret }) })
  app.on('push', 'charge', ({ id }, { tx }) => charge(tx, id))
  await app.start()
  const body = JSON.stringify({ ref: 'refs/heads/main' })
  const headers = {
    'x-hub-signature-256': `sha256=${hmac(secret, body).toString('hex')}`,
    'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    'x-github-event': 'push',
  }
  for (let i = 0; i < 2; i++) expect((await fetch(url, { method: 'POST', body, headers })).status).toBe(200)
  expect(charges()).toEqual({ '72d3162e-cc78-11e3-81ab-4c9367dc0958': 1 })
})

test('a check of your own: only true lets a request in, and a failure of the check is not a refusal', async () => {
  const verify = async (headers: Readonly<Record<string, string>>) => {
    if (headers['x-token'] === 'down') throw new Error('the key server is down')
    return (headers['x-token'] === 'right' ? true : headers['x-token']) as boolean
  }
  const { url, app, charges, refusals } = await openHooks({ verify })
  app.on('note.created', 'charge', ({ id }, { tx }) => charge(tx, id))
  await app.start()
  const send = (token: string) => {
    const headers = { 'x-token': token, 'ce-id': 'm%C3%BC', 'ce-type': 'note.created', 'ce-specversion': '1.0' }
    return fetch(url, { method: 'POST', body: '{}', headers })
  }
  expect((await send('truthy')).status).toBe(401)
  const down = await send('down')
  expect([down.status, down.headers.get('retry-after')]).toEqual([503, '10'])
  expect(refusals.at(-1)?.error).toMatchObject({ message: 'the key server is down' })
  expect((await send('right')).status).toBe(200)
  expect(charges()).toEqual({ mü: 1 })
})

test('a check that never ends is answered in time, and what it says later changes nothing', async () => {
  const goOn = Promise.withResolvers<boolean>()
  const asked = Promise.withResolvers<void>()
  const clock = fakeClock()
  const { url, app, charges, post, refusals } = await openHooks({
    verify() {
      asked.resolve()
      return goOn.promise
    },
    answerWithinMs: 100,
    clock,
    identify: () => 'm1',
    type: 'charge.succeeded',
  })
  app.on('charge.succeeded', 'charge', ({ id }, { tx }) => charge(tx, id))
  await app.start()
  const answer = fetch(url, { method: 'POST', body: '{}' })
  await asked.promise
  await clock.advance(100)
  expect((await answer).status).toBe(503)
  expect(refusals.map(({ reason }) => reason)).toEqual(['cannot-verify'])
  expect(charges()).toEqual({})
  goOn.resolve(true)
  expect((await post('m1')).status).toBe(200)
  expect(charges()).toEqual({ m1: 1 })
})

test('webhooks only receive, and say so', async () => {
  const { app } = await openCharging()
  await expect(app.publish('note.created', {})).rejects.toMatchObject({
    code: 'ROUTE_UNKNOWN',
    message: expect.stringContaining('The app publishes nothing: it has no to.'),
  })
})
