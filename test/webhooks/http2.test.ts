import { connect, constants, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { countParked } from '../../src/operations/index.ts'
import { charge, openHooks } from './open-hooks.ts'
import { stripeEvent, stripeHeaders } from './signing.ts'

test('the same handler answers over HTTP/2', async () => {
  const { app, transport, charges, refusals } = await openHooks({ path: '/hooks', maxBodyBytes: 2_000 })
  const warnings: string[] = []
  const warned = (warning: Error): void => void warnings.push(warning.message)
  process.on('warning', warned)
  onTestFinished(() => void process.off('warning', warned))
  const seen: Record<string, string>[] = []
  app.on('charge.succeeded', 'charge', ({ id, headers }, { tx }) => {
    seen.push({ ...headers })
    charge(tx, id)
  })
  await app.start()
  const server = createServer(transport.nodeHandler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => {
    client.close()
    server.close()
  })

  const post = async (path: string, body: string, headers = stripeHeaders(body)): Promise<number> => {
    const stream = client.request({
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: path,
      ...headers,
    })
    const status = new Promise<number>((resolve, reject) => {
      stream.on('response', (answer) => resolve(Number(answer[':status'])))
      stream.on('error', reject)
    })
    stream.end(body)
    stream.resume()
    return await status
  }
  const body = stripeEvent('evt_1')
  expect(await post('/hooks', body)).toBe(200)
  expect(await post('/hooks', body)).toBe(200)
  expect(await post('/elsewhere', body)).toBe(404)
  expect(await post('/hooks', body, stripeHeaders('another body'))).toBe(401)
  expect(await post('/hooks', stripeEvent('evt_2', { pad: 'x'.repeat(3_000) }))).toBe(413)
  expect(charges()).toEqual({ evt_1: 1 })
  expect(seen.flatMap((headers) => Object.keys(headers)).filter((name) => name.startsWith(':'))).toEqual([])
  expect(refusals.map(({ reason }) => reason)).toEqual(['wrong-path', 'signature-wrong', 'body-too-large'])
  expect(warnings).toEqual([])
})

test('a stream that is reset in the middle of its body leaves nothing behind', async () => {
  const { app, transport, store, refusals } = await openHooks({ verify: () => true, identify: () => 'evt_1' })
  app.on('charge.succeeded', 'charge', ({ id }, { tx }) => charge(tx, id))
  await app.start()
  const begun = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    request.once('data', () => begun.resolve())
    return transport.nodeHandler(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => {
    client.close()
    server.close()
  })
  const body = stripeEvent('evt_1')
  const stream = client.request({ [constants.HTTP2_HEADER_METHOD]: 'POST', 'content-length': String(body.length) })
  stream.write(body.slice(0, 20))
  await begun.promise
  // Without an error: the code of the reset is then NO_ERROR, and node ends the body as if it were whole.
  stream.destroy()
  await expect.poll(() => refusals.map(({ reason }) => reason), { timeout: 20_000 }).toEqual(['body-incomplete'])
  expect(await countParked(store)).toBe(0)
})
