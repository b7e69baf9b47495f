import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/clock/index.ts'
import { DidNotHappen, type HttpEffectOptions, httpEffect } from '../../src/index.ts'
import { callWithin } from '../../src/intents/call.ts'

type Serve = (request: IncomingMessage, response: ServerResponse) => unknown

async function serve(answer: Serve): Promise<string> {
  const server = createServer((request, response) => void answer(request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    await once(server.close(), 'close')
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

async function serveBytes(answer: (socket: Socket) => void): Promise<string> {
  const server = createSocketServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => answer(socket))
    onTestFinished(() => void socket.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** What comes of one call, as the worker sees it. */
async function call(options: HttpEffectOptions) {
  const { run, timeoutMs = 20_000 } = httpEffect(options)
  const intent = { effect: 'pay', key: 'k', payload: { amount: 1 }, intendedAt: new Date() }
  const { outcome } = await callWithin(systemClock, { what: 'the call', timeoutMs }, (signal, assertInTime) =>
    run(intent, { idempotencyKey: 'id-1', attempt: 1, trace: {}, signal, assertInTime }),
  )
  return outcome.kind === 'returned' ? { kind: 'done', result: outcome.value } : verdictOf(outcome.error)
}

function verdictOf(error: unknown) {
  if (!(error instanceof DidNotHappen)) return { kind: 'unknown', error }
  return { kind: error.permanent ? 'refused' : 'later', delayMs: error.delayMs, error }
}

describe('failures that prove that nothing has happened', () => {
  test('nobody listens, and there is no such host', async () => {
    const closed = createSocketServer().listen(0, '127.0.0.1')
    await once(closed, 'listening')
    const { port: free } = closed.address() as AddressInfo
    await once(closed.close(), 'close')
    expect(await call({ url: `http://127.0.0.1:${free}/` })).toMatchObject({ kind: 'later' })
    expect(await call({ url: 'http://no-such-host.invalid/' })).toMatchObject({ kind: 'later' })
  })

  // Where one of several addresses does not answer, the first error is one of them.
  test.each([
    ['ETIMEDOUT', 'connect'],
    ['EACCES', 'connect'],
    ['EAI_NODATA', 'getaddrinfo'],
  ])('%s in %s, also of one of several addresses', async (code, syscall) => {
    const refused = Object.assign(new Error('nobody listens'), { code: 'ECONNREFUSED', syscall: 'connect' })
    const one = Object.assign(new Error('no connection'), { code, syscall })
    for (const cause of [one, new AggregateError([one, refused])]) {
      const fetch = async () => {
        throw new TypeError('fetch failed', { cause })
      }
      expect(await call({ url: 'http://127.0.0.1/', fetch })).toMatchObject({ kind: 'later' })
    }
  })

  test('an address that is none of HTTP, and a port that fetch never connects to', async () => {
    for (const url of ['data:text/plain,done', 'file:///etc/hostname', 'ftp://localhost/'])
      expect(await call({ url })).toMatchObject({ kind: 'refused' })
    expect(await call({ url: 'http://127.0.0.1:6000/' })).toMatchObject({ kind: 'later' })
  })

  test('a request that cannot be built, or answers that were said to be refusals', async () => {
    const url = await serve((_, response) => response.writeHead(422).end('no such account'))
    expect(await call({ url: () => 'no url' })).toMatchObject({ kind: 'refused' })
    expect(await call({ url, refused: '4xx' })).toMatchObject({ kind: 'refused' })
    expect(await call({ url, refused: [422] })).toMatchObject({ kind: 'refused' })
    expect(await call({ url, refused: [404] })).toMatchObject({ kind: 'unknown' })
    expect(await call({ url })).toMatchObject({ kind: 'unknown' })
  })

  test('401, which is about the caller: it is called again when all 4xx are refusals', async () => {
    const url = await serve((_, response) => response.writeHead(401).end())
    expect(await call({ url, refused: '4xx' })).toMatchObject({ kind: 'later' })
    expect(await call({ url, refused: [401] })).toMatchObject({ kind: 'refused' })
    expect(await call({ url })).toMatchObject({ kind: 'unknown' })
  })
})

describe('failures that prove nothing', () => {
  test.each([408, 500, 503, 301, 307, 304])('%s, even if all 4xx are refusals', async (status) => {
    const seen: string[] = []
    const url = await serve((request, response) => {
      seen.push(`${request.method} ${request.url}`)
      response.writeHead(status, { location: '/elsewhere' }).end()
    })
    expect(await call({ url, refused: '4xx' })).toMatchObject({ kind: 'unknown' })
    // Whoever follows a redirect asks a second address to do it, too.
    expect(seen).toEqual(['POST /'])
  })

  test.each([
    ['is cut before it begins', (socket: Socket) => socket.destroy()],
    ['is cut within its headers', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-')],
    ['is no HTTP', (socket: Socket) => socket.end('SMTP ready\r\n\r\n')],
    ['switches to another protocol', (socket: Socket) => socket.write('HTTP/1.1 101 No\r\nupgrade: x\r\n\r\n')],
    ['has endless headers', (socket: Socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(200_000)}`)],
    ['never comes', () => {}],
    ['only says to wait', (socket: Socket) => socket.write('HTTP/1.1 102 Processing\r\n\r\n')],
  ])('an answer that %s', async (_, answer) => {
    expect(await call({ url: await serveBytes(answer), timeoutMs: 500 })).toMatchObject({ kind: 'unknown' })
  })

  // A connection that was there can report these codes, too, when the way to the other side breaks down.
  test.each(['EHOSTUNREACH', 'ENETUNREACH', 'ECONNREFUSED'])('%s while the answer is awaited', async (code) => {
    const fetch = async () => {
      throw new TypeError('fetch failed', {
        cause: Object.assign(new Error(`read ${code}`), { code, syscall: 'read' }),
      })
    }
    expect(await call({ url: 'http://127.0.0.1/', fetch })).toMatchObject({ kind: 'unknown' })
  })
})

describe('what a hostile server adds to its answer', () => {
  const mebibyte = Buffer.alloc(1_048_576, 'x')
  /** How much of it the other side has taken, in mebibytes. */
  const endless = async (response: ServerResponse): Promise<number> => {
    let sent = 0
    const pieces = Readable.from(
      (function* () {
        for (; sent < 300; sent++) yield mebibyte
      })(),
    )
    await pipeline(pieces, response).catch(() => {})
    return sent
  }

  test.each([200, 500])('a body without an end is not read to its end: %s', async (status) => {
    const sent = Promise.withResolvers<number>()
    const url = await serve(async (_, response) => {
      response.writeHead(status)
      sent.resolve(await endless(response))
    })
    const ended = await call({ url })
    if (status === 200) expect(ended).toEqual({ kind: 'done', result: { status } })
    else expect(ended).toMatchObject({ kind: 'unknown' })
    expect(await sent.promise).toBeLessThan(100)
  })

  test('a small body that unpacks to a huge one', async () => {
    const bomb = gzipSync(Buffer.alloc(200_000_000))
    const url = await serve((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb))
    const before = process.memoryUsage().rss
    expect(await call({ url })).toEqual({ kind: 'done', result: { status: 200 } })
    expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000)
  })

  test('a body that comes so slowly that time is up: what has happened has happened', async () => {
    const url = await serve((_, response) => response.writeHead(200).write('{'))
    expect(await call({ url, timeoutMs: 1_000 })).toEqual({ kind: 'done', result: { status: 200 } })
  })

  test('a body that comes slowly with a refusal', async () => {
    const url = await serve((_, response) => response.writeHead(422).write('no '))
    expect(await call({ url, timeoutMs: 1_000, refused: [422] })).toMatchObject({ kind: 'refused' })
  })

  test('early hints, and a body that is no JSON although it says so', async () => {
    const url = await serve((_, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' })
      response.writeHead(201, { 'content-type': 'application/json' }).end('{')
    })
    expect(await call({ url })).toEqual({ kind: 'done', result: { status: 201 } })
  })

  test.each([
    ['3', 3_000],
    ['soon', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['', undefined],
    ['99999999999', 86_400_000],
    ['9'.repeat(400), 86_400_000],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 86_400_000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', undefined],
  ])('Retry-After: %j', async (value, delayMs) => {
    const url = await serve((_, response) => response.writeHead(429, { 'retry-after': value }).end())
    expect(await call({ url })).toMatchObject({ kind: 'later', delayMs })
  })
})

test('what is in the query of the address does not get into errors, where secrets would be read by many', async () => {
  const url = await serve((_, response) => response.writeHead(500).end())
  const { error } = (await call({ url: `${url}pay?token=secret` })) as { error: Error }
  expect(error.message).toContain('/pay')
  expect(error.message).not.toContain('secret')
})

test('a call that nobody can recognise when it is repeated keeps no connection, and a keyed one does', async () => {
  const seen: unknown[] = []
  const url = await serve((request, response) => {
    seen.push(request.headers.connection)
    response.end()
  })
  await call({ url })
  await call({ url, keyed: true })
  expect(seen).toEqual(['close', 'keep-alive'])
})
