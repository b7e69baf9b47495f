import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Refusal, refusedAnswer } from './answers.ts'
import { bodyStream } from './body-stream.ts'

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** What is thrown away of a body that nobody wants, so that the answer can be read; then the connection is cut. */
const mostDiscardedBytes = 16 * 1_048_576

/** For `node:http` and whatever is built on it. The body must not have been read before. */
export function nodeHandler(
  handle: (request: Request) => Promise<Response>,
  onRefused: (refusal: Refusal) => void,
): NodeHandler {
  const refuse = (refusal: Refusal): Response => {
    onRefused(refusal)
    return refusedAnswer(refusal, 0)
  }
  return async (request, response) => {
    // A sender that has gone away needs no answer.
    response.on('error', () => {})
    const asked = toRequest(request)
    const answer = asked instanceof Request ? await handle(asked) : refuse(asked)
    if (answer.status === 408) response.setHeader('connection', 'close')
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(await answer.text())
    discardRest(request)
  }
}

function toRequest(request: IncomingMessage): Request | Refusal {
  // A body parser in front has eaten the bytes that the signature is about.
  if (request.readableEnded || request.readableDidRead) return { status: 500, reason: 'body-read-before' }
  try {
    const { method = 'GET' } = request
    const { originalUrl } = request as { originalUrl?: string }
    const url = new URL(`http://localhost${originalUrl ?? request.url}`)
    const headers = new Headers()
    for (let i = 0; i + 1 < request.rawHeaders.length; i += 2)
      headers.append(request.rawHeaders[i] as string, request.rawHeaders[i + 1] as string)
    const body = method === 'GET' || method === 'HEAD' ? null : bodyStream(request)
    return new Request(url, { method, headers, body, duplex: 'half' })
  } catch (error) {
    return { status: 400, reason: 'request-invalid', error }
  }
}

function discardRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return
  let discarded = 0
  request.on('data', (chunk: Uint8Array) => {
    discarded += chunk.byteLength
    if (discarded > mostDiscardedBytes) request.destroy()
  })
  request.resume()
}
