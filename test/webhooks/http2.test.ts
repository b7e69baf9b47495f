import { connect, constants, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
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
