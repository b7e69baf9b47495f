import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'

/** A handler for `http.createServer`, Express and the like. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** For `node:http` and frameworks built on it, also behind a body parser. */
export function nodeHandler(handle: (request: Request) => Promise<Response>): NodeHandler {
  return async (request, response) => {
    // Whoever has gone needs no answer.
    response.on('error', () => {})
    const asked = requestFrom(request)
    const answer = asked === undefined ? new Response(null, { status: 400 }) : await handle(asked)
    if (response.headersSent) return
    // What was not read of the request is not wanted: it must not be taken for the next one.
    if (!request.complete && request.httpVersionMajor === 1) response.setHeader('connection', 'close')
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(request.method === 'HEAD' ? undefined : Buffer.from(await answer.arrayBuffer()))
  }
}

/** `undefined` if it makes no sense. */
function requestFrom(request: IncomingMessage): Request | undefined {
  try {
    const { method = 'GET', url: target = '/' } = request
    if (!target.startsWith('/')) return undefined
    // Not relative to a base: `//evil/` would be another host.
    const { host = request.headers[':authority'] ?? 'localhost' } = request.headers
    if (typeof host !== 'string') return undefined
    if (!/^[\w.:[\]-]+$/.test(host)) return undefined
    const url = new URL(`http://${host}${target}`)
    const headers = new Headers()
    for (let i = 0; i + 1 < request.rawHeaders.length; i += 2)
      // HTTP/2 sends the method and the path as pseudo-headers, which are not valid names.
      if (!request.rawHeaders[i]?.startsWith(':'))
        headers.append(request.rawHeaders[i] as string, request.rawHeaders[i + 1] as string)
    const hasBody = method !== 'GET' && method !== 'HEAD'
    return new Request(url, { method, headers, ...(hasBody && { body: bodyOf(request), duplex: 'half' }) })
  } catch {
    return undefined
  }
}

/** Express and Fastify may have read it, and put what was in it beside the request. */
function bodyOf(request: IncomingMessage & { readonly body?: unknown }): string | ReadableStream {
  if (request.readableEnded && request.body !== undefined) return JSON.stringify(request.body)
  return Readable.toWeb(request) as ReadableStream
}
