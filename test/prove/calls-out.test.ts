import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { get } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2 } from 'node:http2'
import { type AddressInfo, connect, createServer } from 'node:net'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Message } from '../../src/index.ts'
import { type ProveOptions, prove } from '../../src/testing/index.ts'
import { insertPayment, type Payment, payments, proofOf, type SqliteContext } from './museum/payments.ts'
import { startService } from './museum/service.ts'

const service = await startService()

beforeAll(() => service.calls.splice(0))
afterAll(() => service.stop())

type Handler = (message: Message<Payment>, context: SqliteContext) => unknown

const calls: readonly { readonly how: string; readonly seen: RegExp; readonly handler: Handler }[] = [
  {
    how: 'fetch',
    seen: /fetch {2}POST http:\/\/127\.0\.0\.1:\d+\/charge/,
    async handler(message, context) {
      insertPayment(context, message)
      await fetch(`${service.url}/charge`, { method: 'POST' })
    },
  },
  {
    how: 'node:http',
    seen: /request {2}GET 127\.0\.0\.1\/charge/,
    handler: () => new Promise((resolve) => get(`${service.url}/charge`, (response) => resolve(response.resume()))),
  },
]

test.each(calls)('a call by $how is found, told where it goes, and does not end the proof', async (call) => {
  const proof = await prove(proofOf(call.handler))
  expect(proof.failures.map(({ name }) => name)).toEqual(['calls-out'])
  expect(proof.failures[0]?.seen.join('\n')).toMatch(call.seen)
  expect(proof.table).toHaveLength(2)
  expect(service.calls).toContain('/charge')
})

test('a connection that was open before the handler ran is no way out unseen', async () => {
  const server = createServer((socket) => void socket.resume()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  // Each process ends it once more.
  const kept = connect(port, '127.0.0.1').on('error', () => {})
  await once(kept, 'connect')
  try {
    const proof = await prove(proofOf((message) => void kept.write(`SET ${message.id} 1\r\n`)))
    expect(proof.failures.map(({ name, seen }) => [name, seen[0]])).toEqual([
      ['calls-out', `While p1 was being handled: socket  an open connection to 127.0.0.1:${port}`],
    ])
    expect(proof.table).toHaveLength(2)
    const ending = await prove(proofOf(() => void kept.end('QUIT\r\n'), { messages: payments.slice(0, 1) }))
    expect(ending.failures.map(({ name }) => name)).toEqual(['calls-out'])
  } finally {
    kept.destroy()
    server.close()
  }
})

test('nor is a UDP socket', async () => {
  const kept = createSocket('udp4').bind(0, '127.0.0.1')
  await once(kept, 'listening')
  const { port } = kept.address()
  try {
    const proof = await prove(proofOf((message) => void kept.send(`paid:${message.id}`, port)))
    expect(proof.failures.map(({ name, seen }) => [name, seen[0]])).toEqual([
      ['calls-out', 'While p1 was being handled: socket  a UDP socket'],
    ])
    expect(proof.table).toHaveLength(2)
  } finally {
    kept.close()
  }
})

test('nor is a session of HTTP/2, as gRPC uses it', async () => {
  const server = createHttp2()
    .on('stream', (stream) => stream.end('{}'))
    .listen(0, '127.0.0.1')
  await once(server, 'listening')
  const kept = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  await once(kept, 'connect')
  try {
    const proof = await prove(
      proofOf(async () => {
        const stream = kept.request({ ':path': '/charge', ':method': 'POST' })
        stream.end()
        await once(stream.resume(), 'close')
      }),
    )
    expect(proof.failures.map(({ name, seen }) => [name, seen[0]])).toEqual([
      [
        'calls-out',
        expect.stringMatching(/^While p1 was being handled: request {2}POST http:\/\/127\.0\.0\.1:\d+\/charge$/),
      ],
    ])
    expect(proof.table).toHaveLength(2)
  } finally {
    kept.destroy()
    server.close()
  }
})

test('a stand-in for fetch counts as a call, too', async () => {
  vi.stubGlobal('fetch', async () => new Response('{}'))
  try {
    const proof = await prove(proofOf(() => fetch('https://payments.example/charge')))
    expect(proof.failures.map(({ name, seen }) => [name, seen[0]])).toEqual([
      ['calls-out', 'While p1 was being handled: fetch  GET https://payments.example/charge'],
    ])
    expect(proof.table).toHaveLength(2)
  } finally {
    vi.unstubAllGlobals()
  }
})

test.each<{ readonly what: string; readonly handler: Handler }>([
  { what: 'another machine', handler: () => fetch('http://payments.invalid/charge').catch(() => {}) },
  { what: 'a child process', handler: () => void execFileSync(process.execPath, ['--version']) },
])('what calls $what is not run again and again', async ({ handler }) => {
  let times = 0
  const proof = await prove(
    proofOf((message, context) => {
      times++
      return handler(message, context)
    }),
  )
  expect(proof.failures.map(({ name }) => name)).toEqual(['calls-out'])
  expect(times).toBe(2)
  expect(proof.table).toEqual([])
  expect(proof.notes.join()).toContain('every run would have made that call again')
})

test('publishing without tx is a call, with tx it is not', async () => {
  const publishing = (withTx: boolean): ProveOptions => ({
    ...proofOf(() => {}),
    register: (app) =>
      app.on('payment.received', 'book-payment', async (message, { tx }) => {
        await app.publish('receipt.wanted', { payment: message.id }, withTx ? { tx } : {})
      }),
  })
  const bare = await prove(publishing(false))
  expect(bare.failures.map(({ name }) => name)).toEqual(['calls-out'])
  expect(bare.report).toContain("app.publish('receipt.wanted', …) without tx")
  const inside = await prove(publishing(true))
  expect(inside.ok, inside.report).toBe(true)
})

test('calls after the commit, and of handlers that promise at least once, are fine', async () => {
  const proof = await prove({
    ...proofOf(() => {}),
    register(app) {
      app.on('payment.received', 'book-payment', (_, { afterCommit }) => {
        afterCommit(() => fetch(`${service.url}/refresh`))
      })
      app.on('payment.received', { name: 'charge', delivery: 'at-least-once' }, () => fetch(`${service.url}/charge`))
    },
    messages: proofOf(() => {}).messages.slice(0, 1),
  })
  expect(proof.ok, proof.report).toBe(true)
  expect(service.calls).toContain('/refresh')
})

test('an app that is not being proven is left alone', async () => {
  const before = { fetch: globalThis.fetch, Date: globalThis.Date, random: Math.random }
  const proving = prove(proofOf(() => {}))
  const response = await fetch(`${service.url}/other`)
  const proof = await proving
  expect(response.ok).toBe(true)
  expect(proof.ok, proof.report).toBe(true)
  expect({ fetch: globalThis.fetch, Date: globalThis.Date, random: Math.random }).toEqual(before)
})
