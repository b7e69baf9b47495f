import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { dashboard, type Permission, serveDashboard } from '../../src/dashboard/index.ts'
import { operations } from '../../src/index.ts'
import { memoryStore } from '../../src/memory.ts'
import { asking, openDashboard, script } from './fixture.ts'

const token = 'a-token-that-is-long-enough'

test('without a token or an access function there is no dashboard', () => {
  const store = operations(memoryStore())
  expect(() => dashboard(store, {})).toThrow(/token or access/)
  expect(() => dashboard(store, { token: 'short' })).toThrow(/at least 16 characters/)
  expect(() => dashboard(store, { token: 'short' })).not.toThrow(/short/)
  expect(() => dashboard(store, { token, access: () => undefined })).toThrow(/either token or access/)
})

test('beyond this machine the server refuses to start without a token', async () => {
  const store = operations(memoryStore())
  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'example.com'])
    await expect(serveDashboard(store, { host, port: 0 })).rejects.toThrow(/needs a token/)
})

test('a token is asked for everywhere but on the page, which says nothing', async () => {
  const { get, post } = await openDashboard({ token })
  expect((await get('')).status).toBe(200)
  for (const authorization of ['', 'Bearer wrong', `Bearer ${token}x`, `Basic ${token}`, 'Bearer ', 'Bearer']) {
    const answer = await get('api/overview', { authorization })
    expect(answer.status).toBe(401)
    expect(await answer.text()).not.toContain('dead')
  }
  // Not in the address: it would end up in logs and histories.
  expect((await get(`api/overview?token=${token}`)).status).toBe(401)
  expect((await get('api/nothing')).status).toBe(401)
  expect((await post('api/letters/discard', { selection: 'all', by: 'eve' })).status).toBe(401)
  expect((await get('api/overview', { authorization: `Bearer ${token}` })).status).toBe(200)
})

test('roles: who may only read sees no bodies and changes nothing', async () => {
  let may: readonly Permission[] = ['read']
  const { get, post, app } = await openDashboard({ access: () => ({ by: 'ro', may }) })
  const one = 'api/letters/one?handler=invoice&key=o1'
  expect(await (await get(one)).json()).toMatchObject({ key: 'o1', body: { is: 'hidden' } })
  expect(await (await get('api/messages/story?id=o1')).text()).not.toContain('4111')
  for (const path of ['api/letters/redrive', 'api/letters/discard', 'api/waiting/discard'])
    expect((await post(path, { selection: 'all' })).status).toBe(403)
  expect((await post('api/handlers/pause', { handler: 'invoice' })).status).toBe(403)
  expect((await post('api/letters/preview', { selection: 'all' })).status).toBe(200)
  may = ['read', 'operate']
  const edit = { selection: { handler: 'invoice', key: 'o1' }, body: { amount: 1 } }
  expect((await post('api/letters/redrive', edit)).status).toBe(403)
  may = ['read', 'bodies']
  expect(await (await get(one)).json()).toMatchObject({ body: { is: 'shown', value: { card: '4111' } } })
  may = ['operate']
  expect((await get(one)).status).toBe(401)
  expect(await app.operations.letters.list()).toHaveLength(3)
})

test('no access is no access, whether it is undefined or the function throws', async () => {
  const refused = await openDashboard({ access: () => undefined })
  expect((await refused.get('api/session')).status).toBe(401)
  const failing = await openDashboard({ access: () => Promise.reject(new Error('the login is down')) })
  const said: unknown[] = []
  vi.spyOn(console, 'error').mockImplementation((...words) => void said.push(words.join(' ')))
  const answer = await failing.get('api/session')
  vi.restoreAllMocks()
  expect(answer.status).toBe(503)
  expect(await answer.text()).not.toContain('the login is down')
  expect(said).toEqual([expect.stringContaining('the login is down')])
})

test('what a page of another origin can send changes nothing', async () => {
  const { handle, app } = await openDashboard()
  const url = 'http://localhost:4321/api/letters/discard'
  const body = JSON.stringify({ selection: 'all', by: 'eve' })
  const own = { 'x-justonce-dashboard': '1' }
  const json = { 'content-type': 'application/json' }
  const attempts: readonly [number, Record<string, string>][] = [
    [403, { 'content-type': 'text/plain' }],
    [403, { 'content-type': 'application/x-www-form-urlencoded' }],
    [403, { 'content-type': 'multipart/form-data; boundary=x' }],
    [403, json],
    [403, { ...json, ...own, origin: 'https://evil.example' }],
    [403, { ...json, ...own, origin: 'http://localhost:9999' }],
    [403, { ...json, ...own, origin: 'null' }],
    [403, { ...json, ...own, 'sec-fetch-site': 'cross-site' }],
    [403, { ...json, ...own, 'sec-fetch-site': 'same-site', origin: 'http://localhost:4321' }],
    [415, { ...own, 'content-type': 'text/plain' }],
    [415, { ...own, 'content-type': 'text/plain; application/json' }],
  ]
  for (const [status, headers] of attempts)
    expect([(await handle(new Request(url, { method: 'POST', body, headers }))).status, headers]).toEqual([
      status,
      headers,
    ])
  expect((await handle(new Request(url, { method: 'OPTIONS' }))).headers.get('access-control-allow-origin')).toBeNull()
  expect((await handle(new Request(url))).status).toBe(405)
  expect(await app.operations.letters.list()).toHaveLength(3)
})

test('other pages cannot ask either, and the own page can', async () => {
  const { get, post } = await openDashboard()
  expect((await get('api/overview', { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  expect((await get('api/overview', { 'sec-fetch-site': 'same-origin' })).status).toBe(200)
  const same = { 'sec-fetch-site': 'same-origin', origin: 'https://ops.example' }
  expect((await post('api/letters/preview', { selection: 'all' }, same)).status).toBe(200)
  expect((await post('api/letters/preview', { selection: 'all' }, { origin: 'http://localhost:4321' })).status).toBe(
    200,
  )
  // A link from elsewhere may lead to the page, which then asks by itself.
  expect((await get('', { 'sec-fetch-site': 'cross-site' })).status).toBe(200)
})

test('every answer forbids frames, sniffing, referrers and caches; the page runs its own script only', async () => {
  const { get } = await openDashboard()
  for (const path of ['', 'api/overview', 'api/nothing', 'nothing']) {
    const { headers } = await get(path)
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(headers.get('content-security-policy')).not.toContain('unsafe')
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
    expect(headers.get('cache-control')).toBe(path === '' ? 'no-cache' : 'no-store')
  }
  const page = await get('')
  expect(page.headers.get('content-security-policy')).toMatch(/script-src 'sha256-[^']+'; style-src 'sha256-[^']+';/)
  expect(page.headers.get('content-security-policy')).toContain("require-trusted-types-for 'script'")
  const html = await page.text()
  expect(html).not.toMatch(/(?:src|href)="(?!data:,)/)
  expect(html.match(/<script/g)).toHaveLength(1)
  expect(html.match(/<style/g)).toHaveLength(1)
})

test('what messages bring is JSON and never HTML', async () => {
  const { get } = await openDashboard()
  const id = encodeURIComponent(`o3${script}`)
  const paths = ['api/letters', 'api/letters/groups', `api/messages/story?id=${id}`, `api/messages?id=${id}`]
  for (const path of [...paths, `api/letters/one?handler=invoice&key=${id}`]) {
    const answer = await get(path)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(JSON.stringify(await answer.json())).toContain('<script>alert(')
  }
  // An id that would like to be a header does not become one.
  const injected = await get(`api/messages/story?id=${encodeURIComponent('x\r\nset-cookie: a=b')}`)
  expect([...injected.headers.keys()]).not.toContain('set-cookie')
})

test('secrets in headers are masked by their names', async () => {
  const { get } = await openDashboard()
  const letter = (await (await get('api/letters/one?handler=invoice&key=o1')).json()) as Record<
    string,
    Record<string, unknown>
  >
  expect(letter.headers).toMatchObject({ authorization: '•••••', 'x-api-key': '•••••', trace: script })
  const story = (await (await get('api/messages/story?id=o1')).json()) as Record<string, Record<string, unknown>>
  expect(story.message?.headers).toEqual(letter.headers)
  const own = await openDashboard({ secretHeaders: /trace/g })
  const other = (await (await own.get('api/letters/one?handler=invoice&key=o1')).json()) as Record<
    string,
    Record<string, unknown>
  >
  expect(other.headers).toMatchObject({ trace: '•••••', 'x-api-key': 'k1' })
})

test('bodies are redacted, and what is redacted cannot be edited', async () => {
  const redact = (body: unknown): unknown => {
    const given = body as Record<string, unknown>
    if ('card' in given) given.card = '…'
    return given
  }
  const { get, post } = await openDashboard({ redact })
  for (const path of ['api/letters/one?handler=invoice&key=o1', 'api/messages/story?id=o1'])
    expect(await (await get(path)).text()).not.toContain('4111')
  expect(await (await get('api/letters')).text()).not.toContain('4111')
  const edit = { selection: { handler: 'invoice', key: 'o1' }, body: { amount: 30, card: '…' } }
  const answer = await post('api/letters/redrive', edit)
  expect([answer.status, await answer.json()]).toMatchObject([409, { code: 'BODY_REDACTED' }])
})

test('a body on which redact() throws is not shown, and hides nothing else', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => said.mockRestore())
  const { get, post } = await openDashboard({
    redact() {
      throw new Error('no such field')
    },
  })
  const answer = await get('api/messages/story?id=o1')
  const text = await answer.text()
  expect([answer.status, text.includes('4111'), text.includes('redact() failed')]).toEqual([200, false, true])
  expect(JSON.parse(text)).toMatchObject({ handlers: [{ handler: 'invoice', state: 'dead' }] })
  expect(said).toHaveBeenCalledWith('justonce dashboard: redact() failed: Error: no such field')
  const edit = { selection: { handler: 'invoice', key: 'o1' }, body: {} }
  expect((await post('api/letters/redrive', edit)).status).toBe(409)
})

test('a name that somebody has let lead to this machine is refused', async () => {
  const { nodeHandler } = await openDashboard({ hosts: ['localhost', '127.0.0.1'] })
  const server = createServer(nodeHandler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const ask = async (request: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text
    })
    socket.end(request)
    await once(socket, 'close')
    return answer.split('\r\n')[0] as string
  }
  const head = (host: string, path = '/api/overview') =>
    `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
  expect(await ask(head('localhost'))).toBe('HTTP/1.1 200 OK')
  expect(await ask(head(`LOCALHOST:${port}`))).toBe('HTTP/1.1 200 OK')
  for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', 'localhost.'])
    expect(await ask(head(host))).toMatch(/^HTTP\/1.1 421/)
  for (const host of ['user@localhost', 'localhost/api', 'localhost#', 'a b'])
    expect(await ask(head(host))).toMatch(/^HTTP\/1.1 400/)
  for (const path of [
    '/../../etc/passwd',
    '/..%2f..%2fetc/passwd',
    '/api/../../x',
    '//evil.example/',
    '/%00',
    '/api%2foverview',
  ])
    expect(await ask(head('localhost', path))).toMatch(/^HTTP\/1.1 404/)
  expect(await ask(head('localhost', 'http://evil.example/api/overview'))).toMatch(/^HTTP\/1.1 400/)
})

test('a request that is too large is not read to its end, and what is no JSON is refused', async () => {
  const { post, handle, app } = await openDashboard()
  expect((await post('api/letters/discard', '{')).status).toBe(400)
  expect((await post('api/letters/discard', '[]')).status).toBe(400)
  expect((await post('api/letters/discard', '{"selection":{"since":"never"}}')).status).toBe(400)
  expect((await post('api/letters/discard', '{"selection":{}}')).status).toBe(400)
  expect((await post('api/letters/discard', '{"selection":{"__proto__":{"handler":"invoice"}}}')).status).toBe(400)
  let sent = 0
  const endless = new ReadableStream({
    pull(controller) {
      sent++
      controller.enqueue(new Uint8Array(1_048_576))
    },
  })
  const headers = { 'content-type': 'application/json', 'x-justonce-dashboard': '1' }
  const request = new Request('http://localhost/api/letters/discard', {
    method: 'POST',
    body: endless,
    headers,
    duplex: 'half',
  })
  expect((await handle(request)).status).toBe(413)
  expect(sent).toBeLessThan(10)
  expect(await app.operations.letters.list()).toHaveLength(3)
})

test('under a path of another server it answers there and nowhere else', async () => {
  const { handle } = await openDashboard({ path: '/justonce/' })
  const status = async (path: string) => (await handle(new Request(`http://localhost${path}`))).status
  expect(await Promise.all(['/justonce', '/justonce/', '/justonce/api/session'].map(status))).toEqual([200, 200, 200])
  expect(await Promise.all(['/', '/api/session', '/justoncex/api/session'].map(status))).toEqual([404, 404, 404])
})

test('its path may have characters that addresses encode', async () => {
  const { handle } = await openDashboard({ path: '/größe und mehr' })
  const { status } = await handle(new Request('http://localhost/größe und mehr/api/session'))
  expect(status).toBe(200)
})

test('the name of access goes into the audit, whatever the page says', async () => {
  const { post, app } = await openDashboard()
  await post('api/letters/discard', { selection: { handler: 'invoice', key: 'o1' }, by: 'eve', why: 'test' })
  expect(await app.operations.audit()).toMatchObject([{ action: 'discard', by: 'ana', why: 'test' }])
  const open = await openDashboard({ token })
  const { post: withToken } = asking(open.handle)
  const headers = { authorization: `Bearer ${token}` }
  const discard = { selection: { handler: 'invoice', key: 'o1' } }
  expect((await withToken('api/letters/discard', discard, headers)).status).toBe(400)
  expect((await withToken('api/letters/discard', { ...discard, by: 'bob' }, headers)).status).toBe(200)
  expect(await open.app.operations.audit()).toMatchObject([{ by: 'bob' }])
})
