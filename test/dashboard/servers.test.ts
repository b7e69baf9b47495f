import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { connect, createServer as createHttp2 } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openDashboard } from './fixture.ts'

async function listening(server: Pick<Server, 'listen' | 'close' | 'address'>): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server as Server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function discard(url: string, key: string): Promise<Response> {
  return fetch(`${url}/api/letters/discard`, {
    method: 'POST',
    body: JSON.stringify({ selection: { handler: 'invoice', key }, why: 'test' }),
    headers: { 'content-type': 'application/json', 'x-justonce-dashboard': '1' },
  })
}

test('on plain http it answers the page and takes changes', async () => {
  const { nodeHandler, app } = await openDashboard()
  const url = await listening(createServer(nodeHandler))
  expect(await (await fetch(url)).text()).toContain('<div id="page">')
  const head = await fetch(url, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  expect(await (await discard(url, 'o1')).json()).toEqual({ discarded: 1 })
  expect(await app.operations.letters.list()).toHaveLength(2)
})

test('behind a body parser, which has read the request, it takes changes as well', async () => {
  const { nodeHandler } = await openDashboard()
  const parsing = async (request: IncomingMessage & { body?: unknown }): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (chunks.length > 0) request.body = JSON.parse(Buffer.concat(chunks).toString())
  }
  const server = createServer(async (request, response) => {
    await parsing(request)
    await nodeHandler(request, response)
  })
  const url = await listening(server)
  expect(await (await discard(url, 'o1')).json()).toEqual({ discarded: 1 })
  expect((await fetch(`${url}/api/overview`)).status).toBe(200)
})

test('on http2 it answers, too', async () => {
  const { nodeHandler } = await openDashboard()
  const server = createHttp2(nodeHandler as unknown as Parameters<typeof createHttp2>[1])
  const url = await listening(server as unknown as Server)
  const client = connect(url)
  onTestFinished(() => client.destroy())
  const request = client.request({ ':path': '/api/session' })
  const [headers] = await once(request, 'response')
  expect(headers[':status']).toBe(200)
  request.resume()
})

test('a huge request is refused, and its connection is not used for another one', async () => {
  const { nodeHandler } = await openDashboard()
  const url = await listening(createServer(nodeHandler))
  const answer = await fetch(`${url}/api/letters/discard`, {
    method: 'POST',
    body: new Uint8Array(8 * 1_048_576),
    headers: { 'content-type': 'application/json', 'x-justonce-dashboard': '1' },
  }).catch((error: Error) => error)
  // Whether the sender sees the answer or only the end of the connection is up to its timing.
  if (answer instanceof Response) expect(answer.status).toBe(413)
  else expect(answer).toBeInstanceOf(TypeError)
  expect((await fetch(`${url}/api/session`)).status).toBe(200)
})
