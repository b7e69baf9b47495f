import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { type Refusal, refusedAnswer } from './answers.ts'
import { bodyStream } from './body-stream.ts'

/** A handler for `http.createServer`, Express and the like. */
export type NodeHandler = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
) => Promise<void>

/** How much of an unwanted body is discarded so that the sender can read the response. Then the connection is cut. */
const mostDiscardedBytes = 16 * 1_048_576

/** For `node:http`, `node:http2` and frameworks built on them. The body must not have been read before. */
export function nodeHandler(
  handle: (request: Request) => Promise<Response>,
  onRefused: (refusal: Refusal) => void,
): NodeHandler {
  const refuse = (refusal: Refusal): Response => {
    onRefused(refusal)
    return refusedAnswer(refusal, 0)
  }
  return async (request, response) => {
    // A sender that has disconnected needs no response.
    response.on('error', () => {})
    const asked = toRequest(request)
    const answer = asked instanceof Request ? await handle(asked) : refuse(asked)
    // A middleware in front of us has already answered, because of a timeout for example.
    if (response.headersSent) return
    // An HTTP/2 stream ends by itself and has no such header.
    if (answer.status === 408 && request.httpVersionMajor === 1) response.setHeader('connection', 'close')
    ;(response as ServerResponse).writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(await answer.text())
    discardRest(request)
  }
}

function toRequest(request: IncomingMessage | Http2ServerRequest): Request | Refusal {
  // A body parser has consumed the bytes that the signature covers.
  if (request.readableEnded || request.readableDidRead) return { status: 500, reason: 'body-read-before' }
  try {
    const { method = 'GET' } = request
    const { originalUrl } = request as { originalUrl?: string }
    const target = originalUrl ?? request.url ?? '/'
    // Behind a proxy, the target may be an absolute URL.
    const url = new URL(target.startsWith('/') ? `http://localhost${target}` : target)
    const headers = new Headers()
    for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
      const name = request.rawHeaders[i] as string
      // HTTP/2 sends the method and the path as pseudo-headers, which are not valid names.
      if (!name.startsWith(':')) headers.append(name, request.rawHeaders[i + 1] as string)
    }
    const body = method === 'GET' || method === 'HEAD' ? null : bodyStream(request)
    return new Request(url, { method, headers, body, duplex: 'half' })
  } catch (error) {
    return { status: 400, reason: 'request-invalid', error }
  }
}

function discardRest(request: IncomingMessage | Http2ServerRequest): void {
  if (request.complete || request.destroyed) return
  let discarded = 0
  request.on('data', (chunk: Uint8Array) => {
    discarded += chunk.byteLength
    if (discarded > mostDiscardedBytes) request.destroy()
  })
  request.resume()
}
