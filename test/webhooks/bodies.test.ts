import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { countParked } from '../../src/operations/index.ts'
import { stripeSignature, webhookTransport } from '../../src/transports/webhooks/index.ts'
import { charge, openHooks } from './open-hooks.ts'
import { serve } from './serve.ts'
import { secret, stripeEvent, stripeHeaders } from './signing.ts'

const maxBodyBytes = 10_000

async function openSmall() {
  const hooks = await openHooks({ maxBodyBytes })
  hooks.app.on('charge.succeeded', 'charge', ({ id }, { tx }) => charge(tx, id))
  await hooks.app.start()
  return hooks
}

test('a body of exactly the limit is taken, one byte more is not', async () => {
  const { url, charges } = await openSmall()
  const padding = maxBodyBytes - stripeEvent('evt_1', { pad: '' }).length
  for (const [more, status] of [
    [0, 200],
    [1, 413],
  ] as const) {
    const body = stripeEvent('evt_1', { pad: 'x'.repeat(padding + more) })
    const answer = await fetch(url, { method: 'POST', body, headers: stripeHeaders(body) })
    expect(answer.status).toBe(status)
  }
  expect(charges()).toEqual({ evt_1: 1 })
})

test('a body that only turns out to be too large is not read to its end', async () => {
  let sent = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 1_000
      controller.enqueue(new Uint8Array(1_000))
      if (sent === 1_000_000) controller.close()
    },
  })
  const transport = webhookTransport({ verify: () => true, maxBodyBytes, identify: () => 'm1' })
  const stopping = new AbortController()
  const reading = transport.deliveries({ signal: stopping.signal, maxInFlight: 1 })[Symbol.asyncIterator]().next()
  const request = new Request('http://localhost/', { method: 'POST', body, duplex: 'half' })
  expect((await transport.handle(request)).status).toBe(413)
  expect(sent).toBeLessThanOrEqual(maxBodyBytes + 3_000)
  stopping.abort()
  expect((await reading).done).toBe(true)
})

test('a sender of a chunked body without an end gets its answer while it still sends', async () => {
  const { url, post } = await openSmall()
  const request = httpRequest(url, { method: 'POST', headers: { 'transfer-encoding': 'chunked' } })
  request.on('error', () => {})
  request.write(Buffer.alloc(maxBodyBytes * 2))
  const [response] = await once(request, 'response')
  expect(response.statusCode).toBe(413)
  request.destroy()
  expect((await post('evt_1')).status).toBe(200)
})

test('a sender that goes away in the middle of its body leaves nothing behind', async () => {
  const { url, charges, refusals, post } = await openSmall()
  const body = stripeEvent('evt_1')
  const { host, hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const head = Object.entries({ host, 'content-length': String(body.length), ...stripeHeaders(body) })
  socket.write(`POST / HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
  await new Promise((resolve) => socket.write(body.slice(0, 20), resolve))
  socket.destroy()
  await expect.poll(() => refusals.map(({ reason }) => reason)).toEqual(['body-incomplete'])
  expect(charges()).toEqual({})
  expect((await post('evt_1')).status).toBe(200)
  expect(charges()).toEqual({ evt_1: 1 })
})

test('a sender that stops sending is answered in time', async () => {
  const { app, url } = await openHooks({ answerWithinMs: 50 })
  app.on('charge.succeeded', 'charge', () => {})
  await app.start()
  const request = httpRequest(url, { method: 'POST', headers: { 'content-length': '100' } })
  request.on('error', () => {})
  request.write('{')
  const [response] = await once(request, 'response')
  expect(response.statusCode).toBe(408)
  request.destroy()
})

test('behind a body parser it says what is wrong instead of calling the signature forged', async () => {
  const reasons: string[] = []
  const verify = stripeSignature({ secret })
  const { nodeHandler } = webhookTransport({ verify, onRefused: ({ reason }) => reasons.push(reason) })
  const url = await serve(async (request, response) => {
    for await (const _ of request);
    await nodeHandler(request, response)
  })
  const body = stripeEvent('evt_1')
  expect((await fetch(url, { method: 'POST', body, headers: stripeHeaders(body) })).status).toBe(500)
  expect(reasons).toEqual(['body-read-before'])
})

const readings: Record<string, (request: Request) => Promise<void>> = {
  read: async (request) => void (await request.text()),
  'being read': async (request) => void request.body?.getReader(),
  begun: async (request) => {
    const reader = request.body?.getReader()
    await reader?.read()
    reader?.releaseLock()
  },
}

test.for(Object.entries(readings))(
  'a Request whose body was %s before says so, and nothing is made of what is left',
  async ([, before]) => {
    const { app, transport, store, refusals } = await openHooks({ verify: () => true, identify: () => 'evt_1' })
    app.on('charge.succeeded', 'charge', ({ id }, { tx }) => charge(tx, id))
    await app.start()
    const request = new Request('http://localhost/', { method: 'POST', body: stripeEvent('evt_1') })
    await before(request)
    expect((await transport.handle(request)).status).toBe(500)
    expect(refusals.map(({ reason }) => reason)).toEqual(['body-read-before'])
    expect(await countParked(store)).toBe(0)
  },
)

test('a request that somebody else has answered before is left at that', async () => {
  const { app, transport, charges } = await openHooks()
  const running = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  app.on('charge.succeeded', 'charge', async ({ id }, { tx }) => {
    running.resolve()
    await goOn.promise
    charge(tx, id)
  })
  await app.start()
  const ended = Promise.withResolvers<void>()
  const url = await serve((request, response) => {
    void running.promise.then(() => response.writeHead(504).end())
    transport.nodeHandler(request, response).then(ended.resolve, ended.reject)
  })
  const body = stripeEvent('evt_1')
  expect((await fetch(url, { method: 'POST', body, headers: stripeHeaders(body) })).status).toBe(504)
  goOn.resolve()
  await ended.promise
  expect(charges()).toEqual({ evt_1: 1 })
})
