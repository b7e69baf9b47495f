/** Why a request was not accepted. If a retry can help, the status is a 5xx. */
export interface Refusal {
  readonly status: 400 | 401 | 404 | 405 | 408 | 413 | 500 | 503
  readonly reason:
    | 'request-invalid'
    | 'wrong-path'
    | 'wrong-method'
    | 'body-too-large'
    | 'body-incomplete'
    | 'signature-wrong'
    | 'signature-too-old'
    | 'no-id'
    | 'no-type'
    | 'cannot-verify'
    | 'cannot-identify'
    | 'too-many-in-flight'
    | 'nobody-consumes'
    | 'not-settled-in-time'
    | 'released'
    | 'body-read-before'
    | 'not-queued'
  /** The error, if one was thrown. */
  readonly error?: unknown
}

/** Plain constant text: nothing from a request is echoed in a response. */
const plain = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }

export function doneAnswer(): Response {
  return new Response('done\n', { status: 200, headers: plain })
}

export function refusedAnswer({ status, reason }: Refusal, retryAfterMs: number): Response {
  const headers: Record<string, string> = { ...plain }
  if (status === 503) headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfterMs / 1_000)))
  if (status === 405) headers.allow = 'POST'
  return new Response(`${reason}\n`, { status, headers })
}
