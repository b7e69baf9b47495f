import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { syncBuiltinESMExports } from 'node:module'
import type { Socket } from 'node:net'
import { currentInside } from './inside-handler.ts'
import { watchKeptSockets } from './kept-sockets.ts'
import { sharedPatch } from './shared-patch.ts'
import { isThisMachine } from './this-machine.ts'

type Listener = (message: unknown) => void
type Method = (...values: unknown[]) => unknown

/** Shared, because several proofs may run at once. */
export const watchLeaving = sharedPatch(watch)

/** While a proof runs, everything that leaves the process from inside a handler is recorded. It is not blocked. */
function watch(): () => void {
  const listeners: readonly (readonly [string, Listener])[] = [
    ['undici:request:create', (message) => requested((message as RequestMessage).request)],
    ['http.client.request.start', (message) => requested((message as RequestMessage).request)],
    ['http2.client.stream.created', (message) => requested(requestOf((message as StreamMessage).headers))],
    ['net.client.socket', (message) => connects((message as { socket: Socket }).socket)],
    ['child_process', () => leaves('child process', 'a child process', false)],
  ]
  for (const [channel, listener] of listeners) subscribe(channel, listener)
  const unwrapFetch = wrapFetch()
  const unwrapChildren = wrapSynchronousChildren()
  const unwatchKept = watchKeptSockets((what, host) => leaves('socket', what, isThisMachine(host)))
  return () => {
    for (const [channel, listener] of listeners) unsubscribe(channel, listener)
    unwrapFetch()
    unwrapChildren()
    unwatchKept()
  }
}

interface RequestMessage {
  readonly request: {
    /** Set by undici. */
    readonly origin?: unknown
    /** Set by node:http. */
    readonly host?: unknown
    readonly method?: unknown
    readonly path?: unknown
  }
}

interface StreamMessage {
  readonly headers: Readonly<Record<string, unknown>>
}

/** One session has many requests, and may have been open before. */
function requestOf(headers: StreamMessage['headers']): RequestMessage['request'] {
  const origin = `${String(headers[':scheme'])}://${String(headers[':authority'])}`
  return { origin, method: headers[':method'], path: headers[':path'] }
}

function leaves(kind: 'fetch' | 'request' | 'child process' | 'socket', what: string, isHarmless: boolean) {
  return currentInside()?.leaves({ kind, what, isHarmless })
}

function requested({ origin, host, method, path }: RequestMessage['request']): void {
  const url = URL.parse(origin === undefined ? `http://${String(host)}` : String(origin))
  const what = `${String(method ?? 'GET')} ${String(origin ?? host)}${String(path ?? '')}`
  leaves('request', what, isThisMachine(url?.hostname))
}

/** The destination is known only once the socket is connected. */
function connects(socket: Socket): void {
  const call = leaves('socket', 'a socket', true)
  if (call === undefined) return
  socket.once('connect', () => {
    if (!isThisMachine(socket.remoteAddress)) call.isHarmless = false
  })
}

/** Tests often replace fetch with a fake, which no diagnostics channel reports. */
function wrapFetch(): () => void {
  const given = globalThis.fetch
  const wrapped: typeof fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input)
    leaves('fetch', `${init?.method ?? (input instanceof Request ? input.method : 'GET')} ${url}`, true)
    return given(input, init)
  }
  globalThis.fetch = wrapped
  return () => {
    if (globalThis.fetch === wrapped) globalThis.fetch = given
  }
}

const synchronous = ['execSync', 'execFileSync', 'spawnSync'] as const

/** No diagnostics channel reports these. */
function wrapSynchronousChildren(): () => void {
  const children = process.getBuiltinModule('node:child_process') as unknown as Record<string, Method>
  const given = synchronous.map((name) => [name, children[name] as Method] as const)
  for (const [name, method] of given) {
    children[name] = (...values) => {
      leaves('child process', String(values[0]), false)
      return method(...values)
    }
  }
  syncBuiltinESMExports()
  return () => {
    for (const [name, method] of given) children[name] = method
    syncBuiltinESMExports()
  }
}
