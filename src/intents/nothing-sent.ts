/** No connection was made. A connection that was there may end with one of these, too, when the way to the other side breaks down. */
const ofConnecting: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL'])

/** The host is unknown, or could not prove who it is: the request itself was not sent. */
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
  return error instanceof Error && error.cause !== undefined ? isConnecting(error.cause) : isConnecting(error)
}

function isConnecting(error: unknown): boolean {
  // Several addresses were tried, and each of them has failed in its own way.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isConnecting)
  const { code, syscall } = (error ?? {}) as { readonly code?: unknown; readonly syscall?: unknown }
  return beforeSending.has(code) || (ofConnecting.has(code) && syscall === 'connect')
}
