/** The host was not found, or no connection to it was made, whatever the reason. A connection that was there fails in other calls. */
const ofConnecting: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo'])

/** There was no answer to the attempt to connect, or the host could not prove who it is: the request itself was not sent. */
const beforeSending: ReadonlySet<unknown> = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** Whether this error of `fetch` proves that nothing was sent. A reset or a timeout after that proves nothing. */
export function provesNothingSent(error: unknown): boolean {
  if (!(error instanceof Error) || error.cause === undefined) return isConnecting(error)
  return isConnecting(error.cause) || isBlocked(error.cause)
}

/** What `fetch` says of ports to which it never connects. It has no code. */
function isBlocked(cause: unknown): boolean {
  return cause instanceof Error && cause.message === 'bad port'
}

function isConnecting(error: unknown): boolean {
  // Several addresses were tried, and each of them has failed in its own way.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isConnecting)
  const { code, syscall } = (error ?? {}) as { readonly code?: unknown; readonly syscall?: unknown }
  return beforeSending.has(code) || ofConnecting.has(syscall)
}
